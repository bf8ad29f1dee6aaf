# Stands in for Homebrew, as far as the formula of a release uses it: reads the formula, verifies the archive against
# its checksum, installs into a prefix and runs the formula's own test. It is not Homebrew: dependencies, bottles,
# audits and links are not tried.
#
# ruby formula.rb FORMULA PREFIX OS CPU
require "digest"
require "fileutils"
require "open3"
require "pathname"
require "tmpdir"
require "uri"

FORMULA, PREFIX, SYSTEM, CPU = ARGV

# A folder of the prefix, which installs files of the current folder.
class Folder < Pathname
  def install(*names)
    mkpath
    names.each { |name| FileUtils.cp(name, self) }
  end
end

class Formula
  FACTS = {}

  class << self
    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |value| FACTS[name] = value }
    end

    def conflicts_with(_name, because:) = because
    def on_linux = SYSTEM == "linux" && yield
    def on_macos = SYSTEM == "macos" && yield
    def on_intel = CPU == "intel" && yield
    def on_arm = CPU == "arm" && yield
    def test(&block) = FACTS[:test] = block
  end

  def bin = folder("bin")
  def man1 = folder("share/man/man1")
  def doc = folder("share/doc/vis-agent")
  def version = FACTS[:version]

  def generate_completions_from_executable(program, *arguments)
    places = { "bash" => "etc/bash_completion.d", "zsh" => "share/zsh/site-functions", "fish" => "share/fish" }
    places.each do |shell, place|
      folder(place).mkpath
      folder(place).join("vis").write(output(program.to_s, *arguments, shell))
    end
  end

  def shell_output(command) = output("sh", "-c", command)

  def assert_match(expected, actual)
    raise "Cannot find #{expected} in: #{actual}" unless actual.include?(expected)
  end

  private

  def folder(name) = Folder.new(File.join(PREFIX, name))

  def output(*command)
    text, status = Open3.capture2(*command)
    raise "Cannot run #{command.join(" ")}: #{status}" unless status.success?
    text
  end
end

load FORMULA
formula = VisAgent.new
archive = URI.decode_www_form_component(URI(Formula::FACTS.fetch(:url)).path)
raise "The checksum is wrong" if Digest::SHA256.file(archive).hexdigest != Formula::FACTS.fetch(:sha256)

Dir.mktmpdir do |folder|
  system("tar", "-xzf", archive, "-C", folder, exception: true)
  only = Dir.children(folder)
  raise "The archive has #{only.size} entries" unless only.size == 1
  # Homebrew enters a folder that is alone in an archive.
  Dir.chdir(File.join(folder, only.first)) { formula.install }
end
formula.instance_exec(&Formula::FACTS.fetch(:test))

import type { JsonValue } from "../domain/kit/json.ts";

/** `\b` supports only ASCII, so lookarounds find the boundaries of words in other scripts. */
function words(pattern: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${pattern})(?![\\p{L}\\p{N}_])`, "iu");
}

interface Language {
  readonly changed: RegExp;
  readonly made?: RegExp;
  readonly ran: RegExp;
  readonly bare?: RegExp;
}

const EN = "I(?:['’]ve| have)?(?: (?:also|just|now|then|already|successfully|have|gone ahead and|went ahead and))*";
const EN_CHANGED = "fixed|repaired|corrected|resolved|changed|modified|edited|updated|adjusted|renamed|refactored|" +
  "rewrote|rewritten|patched|deleted|removed|replaced|moved|committed|installed|reverted|upgraded|bumped";
const EN_MADE = "added|created|wrote|written|implemented|saved|inserted|introduced";
const DE = "(?:ich habe|habe ich|ich hab)(?![\\p{L}]).{0,90}?";
const DE_CHANGED = "behoben|gefixt|repariert|korrigiert|geändert|angepasst|umbenannt|gelöscht|entfernt|aktualisiert|" +
  "ersetzt|refaktoriert|verschoben|installiert|committet|überarbeitet";
const DE_MADE = "hinzugefügt|ergänzt|erstellt|angelegt|implementiert|eingefügt|geschrieben|eingebaut|gespeichert";
const FR = "j['’]ai(?![\\p{L}]).{0,40}?";
const FR_CHANGED =
  "(?:corrigé|réparé|modifié|changé|renommé|supprimé|remplacé|déplacé|installé|résolu|adapté)e?s?|mis à jour";
const FR_MADE = "(?:ajouté|créé|implémenté|écrit|inséré|enregistré)e?s?";
const NL = "(?:ik heb|heb ik)(?![\\p{L}]).{0,90}?";

const LANGUAGES: readonly Language[] = [
  {
    changed: words(`${EN} (?:${EN_CHANGED})`),
    made: words(`${EN} (?:${EN_MADE})`),
    ran: words(
      `${EN} (?:(?:ran|run|executed|re-?ran)(?! (?:a|an|\\d+) )|(?:verified|confirmed) that(?= .{0,40}(?:pass|green|succeed)))`,
    ),
    bare: words(`(?:done[.,:!—–-]+ )?(?:all )?(?:${EN_CHANGED}|${EN_MADE})`),
  },
  {
    changed: words(`${DE} (?:${DE_CHANGED})`),
    made: words(`${DE} (?:${DE_MADE})`),
    ran: words(`${DE} (?:ausgeführt|laufen lassen|laufen gelassen|gestartet)`),
    bare: words(`(?:erledigt[.,:!—–-]+ )?(?:${DE_CHANGED}|${DE_MADE})`),
  },
  {
    changed: words(`${FR} (?:${FR_CHANGED})`),
    made: words(`${FR} (?:${FR_MADE})`),
    ran: words(`${FR} (?:lancé|exécuté)e?s?`),
    bare: words(`(?:${FR_CHANGED}|${FR_MADE})`),
  },
  {
    changed: words(
      "he (?:ya |también )?(?:corregido|arreglado|modificado|cambiado|renombrado|eliminado|borrado|actualizado|reemplazado|solucionado|resuelto|movido|instalado)|" +
        "corregí|arreglé|modifiqué|cambié|renombré|eliminé|actualicé|reemplacé|solucioné|moví|instalé",
    ),
    made: words(
      "he (?:ya |también )?(?:añadido|agregado|creado|implementado|escrito)|añadí|agregué|creé|implementé|escribí",
    ),
    ran: words("he (?:ejecutado|corrido|lanzado)|ejecuté|corrí"),
    bare: words("(?:corregid|arreglad|actualizad|añadid|agregad|cread|eliminad|renombrad)[oa]s?"),
  },
  {
    changed: words(
      "ho .{0,25}?(?:corretto|sistemato|risolto|modificato|cambiato|rinominato|eliminato|rimosso|aggiornato|sostituito|spostato|installato)",
    ),
    made: words("ho .{0,25}?(?:aggiunto|creato|implementato|scritto|inserito)"),
    ran: words("ho .{0,25}?(?:eseguito|lanciato)"),
    bare: words("(?:corrett|sistemat|risolt|aggiunt|creat|aggiornat|rinominat|rimoss)[oaie]"),
  },
  {
    changed: words(
      "corrigi|consertei|alterei|modifiquei|mudei|renomeei|removi|apaguei|excluí|atualizei|substituí|movi|instalei|resolvi|ajustei",
    ),
    made: words("adicionei|acrescentei|criei|implementei|escrevi"),
    ran: words("executei|rodei"),
    bare: words("(?:corrigid|consertad|atualizad|adicionad|criad|removid|renomead)[oa]s?"),
  },
  {
    changed: words(
      `${NL} (?:gerepareerd|opgelost|gefixt|gewijzigd|aangepast|veranderd|hernoemd|verwijderd|bijgewerkt|vervangen|verplaatst|geïnstalleerd|gecorrigeerd|hersteld)`,
    ),
    made: words(`${NL} (?:toegevoegd|aangemaakt|geïmplementeerd|geschreven)`),
    ran: words(`${NL} (?:uitgevoerd|gedraaid)`),
    bare: words("gerepareerd|opgelost|gefixt|aangepast|hersteld|toegevoegd|hernoemd|bijgewerkt"),
  },
  {
    changed: words(
      "(?:naprawił|poprawił|zmienił|usunął|usunęł|zaktualizował|zastąpił|przeniosł|zainstalował|zmodyfikował)[ae]m",
    ),
    made: words("(?:dodał|utworzył|stworzył|zaimplementował|napisał)[ae]m"),
    ran: words("(?:uruchomił|wykonał)[ae]m"),
    bare: words("naprawion[eyoa]|poprawion[eyoa]|dodan[eyoa]|usunięt[eyoa]|zmienion[eyoa]"),
  },
  {
    changed: words(
      "я (?:уже |также |теперь )?(?:исправил|починил|изменил|переименовал|удалил|обновил|заменил|переместил|установил|поправил|отредактировал)а?",
    ),
    made: words("я (?:уже |также |теперь )?(?:добавил|создал|реализовал|написал)а?"),
    ran: words("я (?:уже |также |теперь )?(?:запустил|прогнал|выполнил)а?"),
    bare: words("исправлен[оаы]?|добавлен[оаы]?|починил|исправил|обновлен[оаы]?"),
  },
  {
    changed:
      /我(?:已经?|刚刚?|现在|也|又|成功)*.{0,25}?(?:修复|修正|修改|更改|删除|重命名|更新|替换|移动|安装|提交)(?:好)?(?:了|完毕)|我(?:已经?|成功).{0,25}?(?:修复|修正|修改|更改|删除|重命名|更新|替换|移动|安装|提交)/u,
    made:
      /我(?:已经?|刚刚?|现在|也|又|成功)*.{0,25}?(?:添加|新增|创建|实现|编写|写入)了|我(?:已经?|成功).{0,25}?(?:添加|新增|创建|实现|编写|写入)/u,
    ran: /我(?:已经?|刚刚?|现在|也|又|成功)*.{0,15}?(?:运行|执行)(?:了|过)/u,
    bare: /已(?:经)?(?:成功)?(?:修复|修正|修改|更新|添加|创建|删除|重命名)/u,
  },
  {
    // A Japanese claim can omit the person, so Vis recognizes a claim only at the beginning of an answer to a request
    // for work.
    changed: /(?!)/,
    ran: /(?!)/,
    bare:
      /.{0,40}?(?:修正|変更|追加|作成|削除|更新|実装|置換|編集|実行)(?:し|いたし)(?:まし|ておきまし)た|.{0,40}?直しました/u,
  },
];

const ASKS = new RegExp(
  words(
    "fix|repair|correct|change|modify|edit|update|rename|refactor|rewrite|implement|add|create|write|remove|delete|replace|move|install|make|upgrade|bump|resolve|" +
      "(?:beheb|korrigier|reparier|änder|füg|erstell|leg|lösch|entfern|aktualisier|implementier|ersetz|schreib|verschieb|installier|pass)\\p{L}*|benenn\\p{L}*|" +
      "(?:corrig|répar|modifi|chang|ajout|renomm|supprim|remplac|implément|écri|déplac|mets|mettre|cré)\\p{L}*|" +
      "(?:arregl|cambi|añad|agreg|cre[ae]|renombr|elimin|borra|actualiz|reemplaz|soluciona|implementa|escrib|mueve)\\p{L}*|" +
      "(?:corregg|sistema|risolv|modific|aggiung|rinomin|rimuov|aggiorna|sostitui|scriv|sposta)\\p{L}*|" +
      "(?:consert|alter|mud|adicion|acrescent|cri[ae]|renome|remov|apag|atualiz|substitu|escrev)\\p{L}*|" +
      "repareer|herstel|los|wijzig|pas|verander|voeg|maak|hernoem|verwijder|vervang|schrijf|verplaats|installeer|werk|" +
      "(?:napraw|popraw|zmień|dodaj|utwórz|stwórz|usuń|zaktualiz|zastąp|napisz|przenieś|zaimplement)\\p{L}*|" +
      "(?:исправ|почин|измени|добав|созда|переимен|удал|обнов|реализ|замени|напиш|перемест|установ)\\p{L}*",
  ).source +
    "|修复|修正|修改|更改|添加|新增|创建|删除|重命名|更新|替换|实现|编写|変更|追加|作成|削除|実装|置換|編集|直し",
  "iu",
);

const ASKS_FOR_TEXT = new RegExp(
  words(
    "summar\\p{L}*|explain|describe|list|tell|show|review|" +
      "fass|fasse|erklär\\p{L}*|beschreib\\p{L}*|zeig|zeige|nenne|explique|décris|résume|montre|" +
      "resume|explica|muestra|spiega|descrivi|riassumi|mostra|descreva|resuma|mostre|" +
      "leg uit|vat|beschrijf|toon|opisz|wyjaśnij|podsumuj|pokaż|опиши|объясни|покажи|перескажи",
  ).source + "|总结|解释|说明一下|説明して|要約|教えて",
  "iu",
);

const COMPOSED = new RegExp(
  words(
    "haiku|poem|story|essay|song|joke|letter|blog|gedicht|geschichte|brief|poème|histoire|poema|cuento|poesia|racconto|história|" +
      "verhaal|wiersz|opowiadanie|стих\\p{L}*|рассказ\\p{L}*",
  ).source + "|诗|故事|俳句|詩|物語",
  "iu",
);

const FILE =
  "[\\p{L}\\p{N}_./-]+\\.(?:ts|tsx|js|jsx|mjs|py|rs|go|java|kt|rb|php|c|h|cc|cpp|cs|swift|sh|sql|md|txt|json|jsonc|ya?ml|toml|html|css|xml|ini|cfg|lock)";
const FILE_NAME = words(FILE);

const CODE = new RegExp(
  words(
    "(?:unit |failing )?tests?|files?|functions?|methods?|class(?:es)?|modules?|docstrings?|imports?|dependenc(?:y|ies)|bugs?|code|changes|script|config(?:uration)?|build|typo|readme|changelog|branch|" +
      "datei(?:en)?|funktion(?:en)?|methoden?|klassen?|module?n?|fehler|skript|" +
      "fichiers?|fonctions?|méthodes?|erreur|bogue|pruebas?|archivos?|ficheros?|funci(?:ón|ones)|clases?|error|código|" +
      "prova|prove|funzion[ei]|metod[oi]|classe|modulo|errore|codice|testes?|arquivos?|ficheiros?|funç(?:ão|ões)|erro|" +
      "bestand(?:en)?|functies?|klasse|fout|plik(?:i|u|ów)?|funkcj[aęei]|test(?:y|u|ów)?|błąd|błędy?|klas[ęya]|kod|" +
      "тест(?:ы|а|ов)?|файл(?:ы|а|ов)?|функци[яюи]|метод(?:ы|а)?|класс(?:ы|а)?|ошибк[ауи]|баг(?:и|а)?|код|" +
      `${FILE}|[\\p{L}\\p{N}_-]+/[\\p{L}\\p{N}_./-]+`,
  ).source +
    "|测试|文件|函数|方法|类|模块|代码|脚本|错误|缺陷|漏洞|テスト|ファイル|関数|メソッド|クラス|コード|バグ|不具合",
  "iu",
);

const RUNS = new RegExp(
  words(
    "tests?|test suite|npm|pnpm|yarn|pytest|cargo|go test|deno|make|tox|jest|vitest|build|lint(?:er)?|type ?check(?:er)?|" +
      "testsuite|pruebas?|prove|testes?|testen|test[yów]{1,2}|тест(?:ы|ов)?",
  ).source + "|测试|テスト",
  "iu",
);

const PRONOUN = words("it|this|that|them|everything|es|das|alles|lo|la|los|le|ça|o|isso|het|dit|to|его|её|это|все");

const NEGATED = new RegExp(
  words(
    "not|\\p{L}+n['’]t|nothing|no|none|never|neither|nicht|nichts|kein\\p{L}*|nie|weder|ne|n['’]\\p{L}+|pas|rien|aucune?|jamais|nada|ning[uú]n\\p{L}*|nunca|" +
      "non|nulla|niente|nessun\\p{L}*|mai|não|nenhum\\p{L}*|niet|niets|geen|nooit|nic|żad\\p{L}*|не|ничего|ни|никак\\p{L}*",
  ).source + "|没|未|并不|不会|无法|ません|なかった",
  "iu",
);

/** A clause with one of these words may be a condition, a plan, or a report on earlier or other people's work. */
const HEDGED = new RegExp(
  words(
    "if|would|could|should|might|unless|once|before|earlier|previous(?:ly)?|yesterday|ago|last|already|logs?|changelog|histor(?:y|ies)|report|author|mind|" +
      "wenn|falls|würde|könnte|sollte|bevor|bereits|schon|früher|si|aurais|déjà|habría|antes|ya|se|avrei|già|se|teria|já|als|zou|reeds|al|jeśli|gdyby|już|если|бы|уже",
  ).source + "|如果|若|以前|之前|もし|たら|既に|すでに|(?:者|チーム|氏|さん|人)[はが]",
  "iu",
);
/** A clause or a request with one of these words may be about text or about results of a block. */
const TEXTUAL = new RegExp(
  words(
    "lists?|tables?|summar(?:y|ies)|overview|plans?|report|descriptions?|explanation|comparison|answer|text|sentences?|paragraphs?|wording|grammar|spelling|translation|email|count|total|search|results?|output|listing|(?:added|adds?) up|in code|bullet points|pattern|regex|query|approach|filter|variables?|sandbox|snippet|example|draft|my|" +
      "liste[n]?|tabelle|übersicht|zusammenfassung|bericht|satz|sätze|antwort|entwurf|tableau|résumé|liste|phrase|réponse|lista|tabla|resumen|frase|respuesta|texto|elenco|tabella|riassunto|risposta|testo|tabela|resumo|resposta|lijst|tabel|samenvatting|zin|antwoord|tekst|zdanie|listę|tabelę|podsumowanie|odpowiedź|список|таблиц[ау]|текст|предложение|ответ|сводк[ау]",
  ).source + "|列表|表格|摘要|总结|句子|文本|翻译|计划|一覧|表を|要約|文章|翻訳",
  "iu",
);

const FENCE = /^ {0,3}(?:```|~~~)[^]*?^ {0,3}(?:```|~~~)/gmu;
const QUOTED =
  /"[^"\n]{0,2000}"|“[^”\n]{0,2000}”|„[^“”\n]{0,2000}[“”]|«[^»\n]{0,2000}»|「[^」\n]{0,2000}」|『[^』\n]{0,2000}』|^\s*>.*$/gmu;
const MOST_CHARS = 20_000;
/** A longer request probably contains a text, and the answer may be about this text. */
const MOST_LINES = 4, MOST_REQUEST = 1_500;

export function claimOf(
  answer: string,
  { request, given = false }: { readonly request: string; readonly given?: boolean },
): string | null {
  if (given || bringsText(request) || ASKS_FOR_TEXT.test(request) || COMPOSED.test(request)) return null;
  const asksFor = asksForWork(request);
  const hasFence = answer.search(FENCE) >= 0;
  const prose = answer.slice(0, MOST_CHARS).replace(FENCE, "\n").replace(QUOTED, " ").replace(
    /[`*_]{1,3}(?=\S)|(?<=\S)[`*_]{1,3}/g,
    "",
  );
  let isFirst = true;
  for (const sentence of prose.split(/[.!?](?=\s|$)|[。！？\n]/u).map((one) => one.trim())) {
    if (sentence === "") continue;
    const about = { inSentence: CODE.test(sentence), codeAsked: CODE.test(request), asksFor, hasFence, isFirst };
    for (
      const clause of sentence.split(
        /[,;:（），；：、]|\s\(|\)\s|\s[–—-]+\s|\s(?:but|aber|mais|pero|ma|mas|maar|ale|но)\s|但/u,
      )
    ) {
      if (claims(clause.trim(), about)) return sentence;
      about.isFirst = false;
    }
    isFirst = false;
  }
  return null;
}

export function isAboutWork(answer: string, request: string): boolean {
  return claimOf(answer, { request }) !== null || CODE.test(request) && asksForWork(request);
}

function asksForWork(request: string): boolean {
  return ASKS.test(request) && !/[?？]|:\s/.test(request) && !TEXTUAL.test(request) &&
    !bringsText(request) && !ASKS_FOR_TEXT.test(request) && !COMPOSED.test(request);
}

export function leavesText(answer: string, request: string): boolean {
  return bringsText(request) || COMPOSED.test(request) || TEXTUAL.test(request) || answer.search(FENCE) >= 0;
}

function bringsText(request: string): boolean {
  const lines = request.split("\n").filter((line) => line.trim() !== "").length;
  return lines > MOST_LINES || request.length > MOST_REQUEST || request.includes("```");
}

function claims(
  clause: string,
  { inSentence, codeAsked, asksFor, hasFence, isFirst }: {
    readonly inSentence: boolean;
    readonly codeAsked: boolean;
    readonly asksFor: boolean;
    readonly hasFence: boolean;
    readonly isFirst: boolean;
  },
): boolean {
  if (clause === "" || NEGATED.test(clause) || HEDGED.test(clause) || TEXTUAL.test(clause)) return false;
  const isAbout = CODE.test(clause) || asksFor && (inSentence || codeAsked) && PRONOUN.test(clause);
  return LANGUAGES.some(({ changed, made, ran, bare }) => {
    if (ran.test(clause) && RUNS.test(clause)) return true;
    // The answer may show the change instead of claiming it.
    if (hasFence && !(asksFor && FILE_NAME.test(clause))) return false;
    if (changed.test(clause)) return isAbout;
    if (!asksFor) return false;
    if (made?.test(clause)) return isAbout;
    return isFirst && (inSentence || codeAsked) && bare !== undefined && clause.search(bare) === 0;
  });
}

const MOST_FILES = 30;
const HEADING = /^#{1,6} +[`*]*([^\s`*:]+):\d+/gm;

/** The list `findings` of a value names the files. Without a value, headings such as `### path:line` name them. */
export function findingFiles(
  { text, value }: { readonly text: string; readonly value?: JsonValue },
): readonly string[] {
  const named = value === undefined ? [...text.matchAll(HEADING)].map(([, path = ""]) => path) : listed(value);
  return [...new Set(named)].filter((path) => path !== "").slice(0, MOST_FILES);
}

function listed(value: JsonValue): readonly string[] {
  if (typeof value !== "object" || value === null || !("findings" in value)) return [];
  return [value.findings].flat().flatMap((one) =>
    typeof one === "object" && one !== null && "file" in one && typeof one.file === "string" ? [one.file] : []
  );
}

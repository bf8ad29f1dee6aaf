import { z } from "zod";

const HOST = /^(?:\*|(?:\*\.)?(?:\[[\da-f:.]+\]|[^\s*/:@?#[\]]+))(?::\d{1,5})?$/i;
const LOCAL = /^(?:\[[\da-f:.]+\]|[^\s*/:@?#[\]]+):\d{1,5}$/i;

export default z.strictObject({
  hosts: z.array(z.string().regex(HOST, "must be a host such as example.org, *.example.org or example.org:8443"))
    .default([])
    .describe(
      "Hosts on the internet that web.get, web.post and web.readable may reach without an approval, such as example.org, *.example.org or example.org:8443; * for all hosts. Without a port, an entry is for the ports 443 and 80",
    ),
  local: z.array(z.string().regex(LOCAL, "must be a host with its port, such as localhost:3000")).default([]).describe(
    "Hosts on this machine or its network that web.get, web.post and web.readable may reach, each with its port, such as localhost:3000",
  ),
  search: z.boolean().default(false).describe("Whether web.search may search the web without an approval"),
  searchUrl: z.url({ protocol: /^https?$/ }).nullable().default(null).describe(
    "Address of a search service with the API of SearXNG, such as http://localhost:8888/search; the service may be on this machine or its network. null for the search of the model's own service",
  ),
}).prefault({});

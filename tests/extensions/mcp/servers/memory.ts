import "@modelcontextprotocol/server-memory";

import "@modelcontextprotocol/server-filesystem";

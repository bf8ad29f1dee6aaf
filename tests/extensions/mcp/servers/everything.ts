import "@modelcontextprotocol/server-everything/stdio";

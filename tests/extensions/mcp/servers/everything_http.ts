import "@modelcontextprotocol/server-everything/http";

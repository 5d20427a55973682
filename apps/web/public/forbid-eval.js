// The content policy forbids code made from text. Zod would try it while schemas are made, and the try would be
// reported. Parts of the app share schemas, and a shared part runs before the first line of any other: so this comes
// before all of them, as a script of its own.
globalThis.__zod_globalConfig = { jitless: true };

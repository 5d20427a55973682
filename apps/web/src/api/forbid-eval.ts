import { z } from 'zod';

// The content policy forbids code made from text. Zod would try it while schemas are made, and the try would be
// reported: so this comes before every import that makes one.
z.config({ jitless: true });

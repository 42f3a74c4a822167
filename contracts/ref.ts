import { z } from 'zod';

/** Address of an artifact: the SHA-256 of its bytes, 64 lower-case hex digits. */
export const Ref = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits');
export type Ref = z.infer<typeof Ref>;

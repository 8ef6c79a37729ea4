import { z } from 'zod';
import type { Declared } from '../console-options.ts';

/** Encodings of the exports that are met here; another one can be declared on the command line. */
export const ENCODINGS = ['utf-8', 'windows-1252', 'cp850', 'iso-8859-15', 'utf-16le'] as const;

const DeclaredFields = z.object({
  decimal: z.enum([',', '.']).optional().catch(undefined),
  encoding: z.enum(ENCODINGS).optional().catch(undefined),
  profile: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/u)
    .optional()
    .catch(undefined),
  sheet: z.string().min(1).max(200).optional().catch(undefined),
  duplicateRows: z.enum(['refuse', 'keep']).optional().catch(undefined),
  lookAlikes: z.enum(['refuse', 'keep']).optional().catch(undefined),
});

/** What a form or an address declares about a file; what is empty or unknown is not declared. */
export function readDeclared(fields: Readonly<Record<string, unknown>>): Declared {
  const declared = DeclaredFields.parse(fields);
  return Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== undefined));
}

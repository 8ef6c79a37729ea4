import { z } from 'zod';

/** A program's path, or a JSON array of the program and its first arguments. No shell reads it, so nothing needs quoting. */
export const EnvCommand = z.string().transform((text, context): readonly string[] => {
  if (!text.trimStart().startsWith('[')) return [text];
  const parsed = z.array(z.string().min(1)).min(1).safeParse(json(text));
  if (parsed.success) return parsed.data;
  context.addIssue({
    code: 'custom',
    message: 'must be the path of a program, or a JSON array such as ["/usr/local/bin/mail-report", "--to", "office"]',
  });
  return z.NEVER;
});

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export interface Style {
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** Colours where a person looks and did not ask to do without (https://no-color.org: any value but an empty one). */
export function styleOf({
  isTTY,
  env,
}: {
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Style {
  const coloured = isTTY && (env['NO_COLOR'] ?? '') === '';
  const paint = (code: number) => (text: string) => (coloured ? `\u001B[${code}m${text}\u001B[39m` : text);
  return { green: paint(32), yellow: paint(33) };
}

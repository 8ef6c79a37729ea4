/** Every value of a header, line by line: Node's own `headers` joins repeated lines into one. */
export function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const lines: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? '';
    if (given.length === wanted.length && given.toLowerCase() === wanted) lines.push(rawHeaders[at + 1] ?? '');
  }
  return lines;
}

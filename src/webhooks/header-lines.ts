/** Every value of a header, line by line: Node's own `headers` joins repeated lines into one. */
export function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === wanted);
}

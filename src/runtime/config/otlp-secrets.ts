/** What of OTEL_EXPORTER_OTLP_HEADERS must never be printed: the whole, each value as it stands and decoded, and a token after its scheme. */
export function otlpSecrets(headers: string): readonly string[] {
  const values = headers.split(',').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  return [headers, ...values.flatMap((value) => [value, decoded(value), decoded(value).split(/\s+/).at(-1) ?? ''])];
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value).trim();
  } catch {
    return value;
  }
}

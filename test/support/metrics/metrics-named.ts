/** Every metric of Lote, of Node and of Temporal's SDK begins so. */
const NAME = /\b(?:lote|process|nodejs|temporal)_[a-z0-9_]+\b/g;
const PART = /_(?:bucket|count|sum)$/;

/** The metrics that expressions of alerts or of a dashboard name, histograms by the name of the whole. */
export function metricsNamed(text: string): readonly string[] {
  return [...new Set([...text.matchAll(NAME)].map(([name]) => name.replace(PART, '')))];
}

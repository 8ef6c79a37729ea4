/** Whether a value is what a field needs, and what it must be, as a refusal says it. */
export type FieldRule = readonly [is: (value: unknown) => boolean, must: string];

/** What each field of an input must be. */
export type FieldRules<Input> = Readonly<Record<keyof Input, FieldRule>>;

/** A text that is not empty. */
export const TEXT: FieldRule = [(value) => typeof value === 'string' && value !== '', 'a text'];
/** True or false. */
export const FLAG: FieldRule = [(value) => typeof value === 'boolean', 'true or false'];

/** One of these words. */
export function oneOf(...words: readonly string[]): FieldRule {
  return [(value) => words.includes(value as string), words.map((word) => JSON.stringify(word)).join(' or ')];
}

/**
 * What is wrong with an input that somebody typed, in a sentence that names the field; null: nothing. A name without a rule is a mistyped one, and would
 * be ignored in silence. A field may be left out, or be null.
 */
export function problemOfFields<Input extends object>(
  workflow: string,
  input: Input,
  rules: FieldRules<Input>,
): string | null {
  const known: ReadonlyMap<string, FieldRule> = new Map(Object.entries<FieldRule>(rules));
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    const rule = known.get(name);
    if (rule === undefined)
      return `${workflow} knows no field ${JSON.stringify(name)}; there are ${[...known.keys()].join(', ')}.`;
    const [is, must] = rule;
    if (!is(value)) return `${workflow}: "${name}" must be ${must}, found ${JSON.stringify(value)}.`;
  }
  return null;
}

/** An input that may be left out: an object, null or nothing. */
export function isOptionalInput(input: unknown): boolean {
  return input === undefined || (typeof input === 'object' && !Array.isArray(input));
}

import jsonata from 'jsonata';
import { expressionOf, type Document, type Place } from './place.ts';

/** Expressions read untrusted answers. Limits of one evaluation: milliseconds, depth, and items of a list. */
const LIMITS: jsonata.JsonataOptions = { timeout: 250, stack: 200, sequence: 10_000 };
/** Limits the result of an expression: some functions of JSONata make long texts out of short ones. */
const MOST_CHARACTERS = 100_000;

/** Evaluates the expressions of some places over a document. */
export type Evaluate = (document: Document) => Promise<Document>;

/** Returns why an expression cannot be compiled, as a phrase; null if it can. */
export function expressionMistake(expression: string): string | null {
  try {
    jsonata(expression);
    return null;
  } catch (error) {
    // JSONata throws objects that are no errors of the language.
    return (error as { readonly message: string }).message;
  }
}

/** JSONata's error codes for an evaluation that exceeds `LIMITS`. */
const EXCEEDS = new Set(['D1011', 'D1012', 'D2014', 'D2015']);

/**
 * Compiles the expressions of places once. An expression that fails finds nothing, because it may be made for another
 * answer. `exceeded` names an expression that exceeded its limits, because its result is unknown.
 */
export function compileExpressions(places: readonly (Place | null)[]): Evaluate {
  const expressions = new Map<string, jsonata.Expression>();
  for (const place of places.flat()) {
    const expression = place === null ? null : expressionOf(place);
    if (expression !== null && !expressions.has(expression)) expressions.set(expression, jsonata(expression, LIMITS));
  }
  return async (document) => {
    if (expressions.size === 0) return document;
    const computed = new Map<string, unknown>(document.computed);
    let { exceeded } = document;
    for (const [text, expression] of expressions) {
      // Lote evaluates one expression after the other, so that each has its own time limit.
      // oxlint-disable-next-line no-await-in-loop
      const found = await evaluate(expression, document);
      if (found === null) exceeded ??= text;
      else computed.set(text, found.value);
    }
    return { ...document, computed, ...(exceeded !== undefined && { exceeded }) };
  };
}

/** Returns the value found, or null if the evaluation exceeds a limit. */
async function evaluate(
  expression: jsonata.Expression,
  { body, headers, status, text }: Document,
): Promise<{ readonly value: unknown } | null> {
  try {
    const value: unknown = await expression.evaluate(body, { headers: headers ?? {}, status, text });
    // JSONata adds properties of its own to lists; the copy is plain JSON.
    const copy = JSON.stringify(value);
    if (copy === undefined) return { value: undefined };
    return copy.length > MOST_CHARACTERS ? null : { value: JSON.parse(copy) as unknown };
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
    return EXCEEDS.has(code) || error instanceof RangeError ? null : { value: undefined };
  }
}

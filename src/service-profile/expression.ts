import jsonata from 'jsonata';
import { expressionOf, type Document, type Place } from './place.ts';

/** Untrusted answers are read by expressions of the profile: milliseconds, steps down, and items of a list that one evaluation may take. */
const LIMITS: jsonata.JsonataOptions = { timeout: 250, stack: 200, sequence: 10_000 };
/** JSONata has functions that make long texts out of short ones. */
const MOST_CHARACTERS = 100_000;

/** Evaluates the expressions of some places over a document. */
export type Evaluate = (document: Document) => Promise<Document>;

/** Why an expression cannot be compiled, as a phrase; null: it can. */
export function expressionMistake(expression: string): string | null {
  try {
    jsonata(expression);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Compiles the expressions of places once; null when none of them is one. An expression that fails, takes too long or gives something huge finds nothing.
 */
export function compileExpressions(places: readonly (Place | null)[]): Evaluate | null {
  const expressions = new Map<string, jsonata.Expression>();
  for (const place of places.flat()) {
    const expression = place === null ? null : expressionOf(place);
    if (expression !== null && !expressions.has(expression)) expressions.set(expression, jsonata(expression, LIMITS));
  }
  if (expressions.size === 0) return null;
  return async (document) => {
    const computed = new Map<string, unknown>(document.computed);
    for (const [text, expression] of expressions) {
      // One after the other: each has the time of its own.
      // oxlint-disable-next-line no-await-in-loop
      computed.set(text, await evaluate(expression, document));
    }
    return { ...document, computed };
  };
}

async function evaluate(expression: jsonata.Expression, document: Document): Promise<unknown> {
  const { body, headers, status, text } = document;
  try {
    const value: unknown = await expression.evaluate(body, { headers: headers ?? {}, status, text });
    // A list of JSONata carries marks of its own; the copy is plain JSON.
    const copy = JSON.stringify(value);
    return copy === undefined || copy.length > MOST_CHARACTERS ? undefined : (JSON.parse(copy) as unknown);
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  const said = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return String(said);
}

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

/** Codes of JSONata for what exceeds `LIMITS`. */
const EXCEEDS = new Set(['D1011', 'D1012', 'D2014', 'D2015']);
const TOO_LONG = 'D1012';

/**
 * Compiles the expressions of places once. An expression that fails finds nothing, for it may be made for another answer.
 * One that exceeds its limits is named in `exceeded`: what it would have found is not known.
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
      // One after the other: each has the time of its own.
      // oxlint-disable-next-line no-await-in-loop
      const found = await evaluate(expression, document);
      if (found === null) exceeded ??= text;
      else computed.set(text, found.value);
    }
    return { ...document, computed, ...(exceeded !== undefined && { exceeded }) };
  };
}

/** A process that stands still for a moment has not evaluated for all that time: what took too long gets a second try. */
async function evaluate(expression: jsonata.Expression, document: Document): Promise<Found | null> {
  const first = await evaluateOnce(expression, document);
  const found = first === TOO_LONG ? await evaluateOnce(expression, document) : first;
  return typeof found === 'string' ? null : found;
}

interface Found {
  readonly value: unknown;
}

/** A text is the code of a limit that it exceeds. */
async function evaluateOnce(expression: jsonata.Expression, document: Document): Promise<Found | string> {
  const { body, headers, status, text } = document;
  try {
    const value: unknown = await expression.evaluate(body, { headers: headers ?? {}, status, text });
    // A list of JSONata carries marks of its own; the copy is plain JSON.
    const copy = JSON.stringify(value);
    if (copy === undefined) return { value: undefined };
    return copy.length > MOST_CHARACTERS ? 'too large' : { value: JSON.parse(copy) as unknown };
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
    return EXCEEDS.has(code) || error instanceof RangeError ? code || 'too large' : { value: undefined };
  }
}

function messageOf(error: unknown): string {
  const said = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return String(said);
}

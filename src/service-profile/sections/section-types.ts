import { z } from 'zod';
import { expressionMistake } from '../expression.ts';
import { expressionOf, isHeaderName, isPlace } from '../place.ts';

const PLACE_FORMS =
  'a JSON Pointer such as "/data/id" ("" is the whole document), "header:NAME", "text" or "jsonata:EXPRESSION"';

const onePlace = z
  .string()
  .max(4_000)
  .check((context) => {
    const expression = expressionOf(context.value);
    const mistake = expression === null ? null : expressionMistake(expression);
    if (mistake !== null) context.issues.push(wrong(context.value, `must hold a JSONata expression: ${mistake}`));
    else if (!isPlace(context.value)) context.issues.push(wrong(context.value, `must be ${PLACE_FORMS}`));
  });

function wrong(input: string, message: string): z.core.$ZodRawIssue {
  return { code: 'custom', input, message };
}

/** Where something stands, or a list of such places of which the first that holds something counts. */
export const place = z.union([onePlace, z.array(onePlace).min(1).max(20)]);

/** The same, or nowhere. */
export const optionalPlace = place.nullable();

/** Words of a service; compared without case, numbers and true/false as their text. */
export const words = z.array(z.string().min(1).max(200));

/** A header's name. */
export const headerName = z.string().refine(isHeaderName, { error: 'must be a header name' });

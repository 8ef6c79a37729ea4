import { errorAnswer } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import type { Problem } from '../validation/field.ts';

/** 422 that names the field; a body that is no object at all has no field to name. */
export function problemAnswer({ code, field, message }: Problem): Answer {
  return errorAnswer(422, code, message, { field: field === '' ? 'body' : field });
}

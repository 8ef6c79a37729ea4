/** A member of a JSON object, with the exact text that it has in the file. */
export interface JsonMember {
  readonly name: string;
  /** `"name": value`, as written, without white space around it. */
  readonly text: string;
}

/**
 * Splits the text of one JSON object into its members without touching their tokens: parsing and writing again would
 * round long numbers. The text must be valid JSON; ingest has proved that before.
 */
export function topLevelMembers(text: string): readonly JsonMember[] {
  const trimmed = text.trim();
  const members: JsonMember[] = [];
  let depth = 0;
  let start = 1;
  for (let index = 0; index < trimmed.length; index += 1) {
    const sign = trimmed[index];
    if (sign === '"') {
      index = endOfString(trimmed, index);
    } else if (sign === '{' || sign === '[') {
      depth += 1;
    } else if (sign === '}' || sign === ']') {
      depth -= 1;
    }
    const ends = (sign === ',' && depth === 1) || (sign === '}' && depth === 0);
    if (!ends) continue;
    pushMember(members, trimmed.slice(start, index).trim());
    start = index + 1;
  }
  return members;
}

function pushMember(members: JsonMember[], text: string): void {
  if (text === '') return;
  const name: unknown = JSON.parse(text.slice(0, endOfString(text, 0) + 1));
  members.push({ name: String(name), text });
}

/** Position of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '"') return index;
  }
  return text.length;
}

/**
 * The element of an array parameter that belongs to the row whose bigint key stands at the same place of $1. A statement
 * that begins with `key = ANY($1)` and looks its values up in this way finds its rows by the index and by nothing else;
 * in a join with the arrays the planner, which takes a growing table for a small one, goes through the index once for each
 * pair of items (measured for 128 items: 60 µs a row more).
 */
export function ofItem(array: string, key: string): string {
  return `(${array})[array_position($1::bigint[], ${key})]`;
}

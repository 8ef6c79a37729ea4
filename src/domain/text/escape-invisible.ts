/** Direction marks, C1 controls and line ends of Unicode. JSON allows them unescaped, but a terminal or a page obeys them. */
const ACTED_ON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns the same JSON text with these characters as escapes. */
export function escapeInvisible(json: string): string {
  return json.replaceAll(ACTED_ON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One secret, or several with commas between, newest first; null when one of them is empty. */
export function secretList(list: string): readonly string[] | null {
  const secrets = list.split(',').map((entry) => entry.trim());
  return secrets.every((entry) => entry !== '') ? secrets : null;
}

/** Returns `count` random items, or all if there are fewer. */
export function takeRandom<Item>(items: readonly Item[], count: number, random: () => number): readonly Item[] {
  const left = [...items];
  const taken: Item[] = [];
  while (taken.length < count && left.length > 0) {
    const at = Math.min(Math.floor(random() * left.length), left.length - 1);
    taken.push(left[at] as Item);
    left[at] = left.at(-1) as Item;
    left.pop();
  }
  return taken;
}

/** The same items, one of each group in turn: within a group in their order, the groups in the order in which they come first. */
export function eachInTurn<Item>(items: readonly Item[], groupOf: (item: Item) => string): readonly Item[] {
  const taken = new Map<string, number>();
  const turns: Item[][] = [];
  for (const item of items) {
    const group = groupOf(item);
    const turn = taken.get(group) ?? 0;
    taken.set(group, turn + 1);
    (turns[turn] ??= []).push(item);
  }
  return turns.flat();
}

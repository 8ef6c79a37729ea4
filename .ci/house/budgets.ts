import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUDGETS, PRODUCT, type Budget } from './limits.ts';

/** Rooms above their budget, and rooms that have none, each as a sentence. `root` is the checkout. */
export function overBudget(root: string, budgets: Readonly<Record<string, Budget>> = BUDGETS): readonly string[] {
  return roomsOf(root).flatMap((room) => {
    const { files, lines } = sizeOf(join(root, room));
    const budget = budgets[room];
    if (budget === undefined) return [`${room} has no budget: give it one in .ci/house/limits.ts`];
    if (files <= budget.files && lines <= budget.lines) return [];
    return [
      `${room} has ${files} files and ${lines} lines, its budget is ${budget.files} and ${budget.lines}: remove something before you add`,
    ];
  });
}

function roomsOf(root: string): readonly string[] {
  return PRODUCT.flatMap((folder) =>
    folder === 'src' ? foldersIn(join(root, folder)).map((name) => `src/${name}`) : [folder],
  );
}

function foldersIn(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

function sizeOf(room: string): Budget {
  const paths = readdirSync(room, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:ts|mjs)$/u.test(name));
  const lines = paths.map((name) => readFileSync(join(room, name), 'utf8').split('\n').length - 1);
  return { files: paths.length, lines: lines.reduce((sum, one) => sum + one, 0) };
}

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { overBudget } from './budgets.ts';
import { byFolder, folderOf, undocumentedExports } from './docstrings.ts';
import { crowdedFolders } from './folders.ts';
import { longFunctions } from './function-length.ts';
import { LONGEST_FUNCTION, OLD_WORDS } from './limits.ts';
import { brokenLinks, markdownPages } from './links.ts';
import { judge, mayRenew, recorded, type Counts } from './ratchet.ts';
import { productSources } from './sources.ts';
import { namesWith } from './vocabulary.ts';

/** One ratchet: what was found, and how to say that something of it has grown. */
interface Ratchet {
  readonly found: Counts;
  readonly complaint: (name: string, was: number) => string;
}

type Known = Readonly<Partial<Record<RatchetName, Counts>>>;
type RatchetName = 'functions' | 'docstrings' | 'words';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KNOWN = fileURLToPath(new URL('known.json', import.meta.url));
const RENEW = 'npm run check:house -- --update';

/** `npm run check:house`: everything that a reader stumbles over and no other check sees. */
function checkHouse(update: boolean): void {
  const known = JSON.parse(readFileSync(KNOWN, 'utf8')) as Known;
  const ratchets = findRatchets();
  if (update) renew(known, ratchets);
  const current = update ? (JSON.parse(readFileSync(KNOWN, 'utf8')) as Known) : known;
  const problems = [
    ...crowdedFolders(ROOT),
    ...overBudget(ROOT),
    ...brokenLinks(ROOT, markdownPages(ROOT)),
    ...grown(current, ratchets),
  ];
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) {
    process.stderr.write(`\n${problems.length} found. After a mere rename or move: ${RENEW}\n`);
    process.exitCode = 1;
  } else noteProgress(current, ratchets);
}

function findRatchets(): Readonly<Record<RatchetName, Ratchet>> {
  const sources = productSources(ROOT);
  const undocumented = undocumentedExports(sources);
  const old = namesWith(Object.keys(OLD_WORDS), sources);
  return {
    functions: {
      found: longFunctions(ROOT),
      complaint: (name, was) =>
        `${name}: this function is longer than ${Math.max(was, LONGEST_FUNCTION)} lines: split it`,
    },
    docstrings: {
      found: byFolder(undocumented),
      complaint: (folder, was) => {
        const all = undocumented.filter((one) => folderOf(one) === folder);
        return `${folder}: ${all.length} exports without a docstring, at most ${was} are known. Add one to the new ones among:\n  ${all.join('\n  ')}`;
      },
    },
    words: {
      found: Object.fromEntries(Object.entries(old).map(([word, names]) => [word, names.length])),
      complaint: (word) => `"${word}" is an old word, say ${OLD_WORDS[word] ?? ''}: ${old[word]?.join(', ') ?? ''}`,
    },
  };
}

function grown(known: Known, ratchets: Readonly<Record<RatchetName, Ratchet>>): readonly string[] {
  return entriesOf(ratchets).flatMap(([name, { found, complaint }]) =>
    judge(known[name] ?? {}, found).grown.map((one) => complaint(one, known[name]?.[one] ?? 0)),
  );
}

/** Writes down what is left, unless there is more of something than before. */
function renew(known: Known, ratchets: Readonly<Record<RatchetName, Ratchet>>): void {
  const next = entriesOf(ratchets).map(([name, { found }]) => [
    name,
    known[name] === undefined || mayRenew(known[name], found) ? recorded(found) : known[name],
  ]);
  writeFileSync(KNOWN, `${JSON.stringify(Object.fromEntries(next), null, 2)}\n`);
}

function noteProgress(known: Known, ratchets: Readonly<Record<RatchetName, Ratchet>>): void {
  const fell = entriesOf(ratchets).flatMap(([name, { found }]) => judge(known[name] ?? {}, found).fell);
  if (fell.length > 0) process.stdout.write(`Less than known of: ${fell.join(', ')}. Hold it: ${RENEW}\n`);
}

function entriesOf(ratchets: Readonly<Record<RatchetName, Ratchet>>): readonly (readonly [RatchetName, Ratchet])[] {
  return Object.entries(ratchets) as readonly (readonly [RatchetName, Ratchet])[];
}

checkHouse(process.argv.includes('--update'));

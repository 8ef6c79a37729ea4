import { posix } from 'node:path';
import { MOST_SHEETS, damaged, tooLarge } from '../limits.ts';
import { localName, readXml } from '../xml-reader.ts';
import type { ZipArchive } from '../zip-archive.ts';

/** Where a part of the package points to. */
interface Relationship {
  readonly id: string;
  /** Last word of its type: `worksheet`, `styles`, `sharedStrings`. The addresses before it differ between the two forms of the standard. */
  readonly type: string;
  /** Name of the part; null when it lies outside of the file. */
  readonly target: string | null;
}

/** What `workbook.xml` and the relationships say. */
export interface WorkbookPart {
  readonly sheets: readonly { readonly name: string; readonly hidden: boolean; readonly part: string }[];
  readonly sharedStrings: string | null;
  readonly styles: string | null;
  readonly epoch: 1900 | 1904;
  readonly recalculates: boolean;
  readonly hasMacros: boolean;
  readonly linksElsewhere: boolean;
}

/** Finds the parts of an XLSX package. @throws Refusal `workbook-damaged`, `workbook-too-large` */
export async function readWorkbookPart(archive: ZipArchive): Promise<WorkbookPart> {
  const [root] = (await relationships(archive, '')).filter(({ type }) => type === 'officeDocument');
  if (root === undefined || root.target === null) throw damaged('it names no workbook part');
  const related = await relationships(archive, root.target);
  const found = await readWorkbookXml(archive, root.target);
  const targets = new Map(related.filter(({ type }) => type === 'worksheet').map(({ id, target }) => [id, target]));
  const sheets = found.sheets.flatMap(({ id, ...sheet }) => {
    const part = targets.get(id);
    return part === undefined || part === null ? [] : [{ ...sheet, part }];
  });
  const target = (type: string): string | null => related.find((one) => one.type === type)?.target ?? null;
  return {
    sheets,
    sharedStrings: target('sharedStrings'),
    styles: target('styles'),
    epoch: found.epoch,
    recalculates: found.recalculates,
    hasMacros: related.some(({ type }) => type === 'vbaProject' || type === 'xlMacrosheet'),
    linksElsewhere: related.some(({ type }) => type === 'externalLink'),
  };
}

async function readWorkbookXml(archive: ZipArchive, part: string) {
  const sheets: { name: string; hidden: boolean; id: string }[] = [];
  let epoch: 1900 | 1904 = 1900;
  let recalculates = false;
  await readXml(part, archive.chunks(part), {
    open(name, attributes) {
      const local = localName(name);
      if (local === 'workbookPr' && isTrue(attributes['date1904'])) epoch = 1904;
      if (local === 'calcPr' && isTrue(attributes['fullCalcOnLoad'])) recalculates = true;
      if (local !== 'sheet') return;
      if (sheets.length >= MOST_SHEETS) throw tooLarge('sheets', MOST_SHEETS);
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
      const hidden = attributes['state'] === 'hidden' || attributes['state'] === 'veryHidden';
      sheets.push({ name: attributes['name'] ?? '', hidden, id });
    },
    close: () => undefined,
    text: () => undefined,
  });
  return { sheets, epoch: epoch as 1900 | 1904, recalculates: recalculates as boolean };
}

async function relationships(archive: ZipArchive, of: string): Promise<readonly Relationship[]> {
  const folder = posix.dirname(of);
  const part = posix.join(folder, '_rels', `${posix.basename(of)}.rels`);
  if (!archive.has(part)) return [];
  const found: Relationship[] = [];
  await readXml(part, archive.chunks(part), {
    open(name, { Id = '', Type = '', Target = '', TargetMode }) {
      if (localName(name) !== 'Relationship') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      const type = Type.slice(Type.lastIndexOf('/') + 1);
      found.push({ id: Id, type, target: TargetMode === 'External' ? null : target });
    },
    close: () => undefined,
    text: () => undefined,
  });
  return found;
}

/** The two spellings of XML Schema. */
export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

import { LONGEST_FORMAT, MOST_STYLES, tooLarge } from '../limits.ts';
import { GENERAL, builtInFormat, parseNumberFormat } from '../number-format.ts';
import type { NumberFormat } from '../number-format.ts';
import { localName, readXml } from '../xml-reader.ts';
import type { ZipArchive } from '../zip-archive.ts';

/** Formats with this number and above have a code in the file. */
const FIRST_OWN_FORMAT = 164;

/** The number format of each cell style, by its index. */
export class CellStyles {
  readonly #formats: readonly NumberFormat[];

  constructor(formats: readonly NumberFormat[]) {
    this.#formats = formats;
  }

  format(style: string | undefined): NumberFormat {
    return this.#formats[Number(style ?? 0)] ?? GENERAL;
  }
}

/** Reads the number formats of `styles.xml`; a workbook without it shows all numbers as they are. */
export async function readStyles(archive: ZipArchive, part: string | null, signal?: AbortSignal): Promise<CellStyles> {
  if (part === null || !archive.has(part)) return new CellStyles([]);
  const codes = new Map<number, string>();
  const ids: number[] = [];
  /** Formats and styles of another part of it (conditional ones, `dxfs`) have numbers of their own. */
  let inside = '';
  await readXml(part, archive.chunks(part, signal), {
    open(name, attributes) {
      const local = localName(name);
      if ((attributes['formatCode'] ?? '').length > LONGEST_FORMAT)
        throw tooLarge('characters in one number format', LONGEST_FORMAT);
      if (local === 'cellXfs' || local === 'numFmts') inside = local;
      if (inside === 'numFmts' && local === 'numFmt')
        codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '');
      if (inside === 'cellXfs' && local === 'xf') ids.push(Number(attributes['numFmtId'] ?? 0));
      if (ids.length + codes.size > MOST_STYLES) throw tooLarge('cell styles', MOST_STYLES);
    },
    close(name) {
      if (localName(name) === inside) inside = '';
    },
    text: () => undefined,
  });
  const formats = new Map([...codes].map(([id, code]) => [id, { ...parseNumberFormat(code), code }]));
  return new CellStyles(ids.map((id) => formats.get(id) ?? builtIn(id)));
}

function builtIn(id: number): NumberFormat {
  return Number.isSafeInteger(id) && id >= 0 && id < FIRST_OWN_FORMAT ? { ...builtInFormat(id), code: id } : GENERAL;
}

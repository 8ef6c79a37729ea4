import type { MergedRange } from './merged-cells.ts';
import { MAIN, XML_HEAD } from './package-parts.ts';
import { cellText, clipped } from './xml-text.ts';

/** Excel shows no more of a note than fits its box, and nobody reads more. */
const LONGEST_NOTE = 1000;
/** Ids of shapes belong to blocks of so many; the first block is the program's own. */
const SHAPES_OF_A_BLOCK = 1024;
const BOX = { columns: 3, rows: 6 };
const STYLE = 'position:absolute;margin-left:60pt;margin-top:2pt;width:240pt;height:90pt;z-index:1;visibility:hidden';

/** A note at a cell; row and column from 0. */
interface Note {
  readonly row: number;
  readonly column: number;
  readonly text: string;
}

/** The notes of a sheet: XLSX keeps their texts in one part, and the boxes in which they are shown in another. */
export class CellNotes {
  #notes: Note[] = [];

  add(note: Note): void {
    this.#notes.push(note);
  }

  /** Of merged cells only the first one is shown: it gets the notes of all. */
  merge(ranges: readonly MergedRange[]): void {
    if (ranges.length === 0) return;
    const byCell = new Map<string, Note>();
    for (const note of this.#notes) {
      const at = ranges.find((range) => isInside(note, range));
      const { row, column } = at === undefined ? note : { row: at.top, column: at.left };
      const name = cellName(row, column);
      const earlier = byCell.get(name);
      const text = earlier === undefined ? note.text : `${earlier.text}\n\n${note.text}`;
      byCell.set(name, { row, column, text });
    }
    this.#notes = [...byCell.values()];
  }

  /** The part with the texts. */
  *texts(): Generator<string> {
    yield `${XML_HEAD}<comments xmlns="${MAIN}"><authors><author>Lote</author></authors><commentList>`;
    for (const { row, column, text } of this.#notes)
      yield `<comment ref="${cellName(row, column)}" authorId="0"><text><t xml:space="preserve">${cellText(clipped(text, LONGEST_NOTE))}</t></text></comment>`;
    yield '</commentList></comments>';
  }

  /** The part with the boxes. */
  *boxes(): Generator<string> {
    const blocks = Array.from({ length: Math.floor(this.#notes.length / SHAPES_OF_A_BLOCK) + 1 }, (_, at) => at + 1);
    yield '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel">';
    yield `<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="${blocks.join(',')}"/></o:shapelayout>`;
    yield '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe"><v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>';
    for (const [at, { row, column }] of this.#notes.entries()) {
      const anchor = [column + 1, 15, row, 2, column + 1 + BOX.columns, 15, row + BOX.rows, 4].join(', ');
      yield `<v:shape id="_x0000_s${SHAPES_OF_A_BLOCK + 1 + at}" type="#_x0000_t202" style="${STYLE}" fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:shadow on="t" color="black" obscured="t"/><v:path o:connecttype="none"/><v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox><x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${anchor}</x:Anchor><x:AutoFill>False</x:AutoFill><x:Row>${row}</x:Row><x:Column>${column}</x:Column></x:ClientData></v:shape>`;
    }
    yield '</xml>';
  }
}

function isInside({ row, column }: Note, { top, bottom, left, right }: MergedRange): boolean {
  return row >= top && row <= bottom && column >= left && column <= right;
}

/** Row 1, column 27 -> `AB2`. */
export function cellName(row: number, column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return `${letters}${row + 1}`;
}

import { SaxesParser } from 'saxes';
import { DEEPEST, LONGEST_TOKEN, damaged, tooLarge } from './limits.ts';
import { Refusal, shorten } from '../findings.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Receives the elements and texts of one part. Names include their prefix, as in the file. */
export interface XmlHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Passes tags and texts to a handler. Refuses a document type, which may declare entities. */
class XmlReader {
  readonly #parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #part: string;
  #depth = 0;
  #sinceTag = 0;

  constructor(part: string, handler: XmlHandler) {
    this.#part = part;
    const parser = this.#parser;
    parser.on('doctype', () => {
      throw damaged(`its part ${part} has a document type, which may declare entities`);
    });
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding !== undefined && !/^utf-?8$/i.test(encoding))
        throw damaged(`its part ${part} is written in ${shorten(encoding, 40)} and not in UTF-8`);
    });
    parser.on('opentag', ({ name, attributes }) => {
      this.#depth += 1;
      this.#sinceTag = 0;
      if (this.#depth > DEEPEST) throw tooLarge('elements inside each other', DEEPEST);
      handler.open(name, attributes);
    });
    parser.on('closetag', ({ name }) => {
      this.#depth -= 1;
      this.#sinceTag = 0;
      handler.close?.(name);
    });
    parser.on('text', (text) => handler.text?.(text));
    parser.on('cdata', (text) => handler.text?.(text));
  }

  write(bytes: Uint8Array): void {
    this.#run(() => this.#write(this.#decoder.decode(bytes, { stream: true })));
  }

  end(): void {
    this.#run(() => {
      this.#write(this.#decoder.decode());
      this.#parser.close();
    });
  }

  #write(text: string): void {
    this.#sinceTag += text.length;
    this.#parser.write(text);
    if (this.#sinceTag > LONGEST_TOKEN) throw tooLarge('characters in one cell', LONGEST_TOKEN);
  }

  #run(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const reason = error instanceof Error ? shorten(error.message, 120) : '';
      throw damaged(`its part ${this.#part} is no well-formed XML (${reason})`);
    }
  }
}

/** Returns a name without its prefix: `x:row` and `row` are the same element of Office Open XML. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Yields the result of a handler after each chunk of a part. @throws Refusal as `XmlReader` and the archive */
export async function* takenOf<Rows>(
  archive: ZipArchive,
  part: string,
  handler: XmlHandler & { take(): Rows },
  signal?: AbortSignal,
): AsyncGenerator<Rows> {
  const reader = new XmlReader(part, handler);
  for await (const chunk of archive.chunks(part, signal)) {
    reader.write(chunk);
    yield handler.take();
  }
  reader.end();
  yield handler.take();
}

/** Reads a whole part. @throws Refusal as `XmlReader` and the archive */
export async function readXml(part: string, chunks: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> {
  const reader = new XmlReader(part, handler);
  for await (const chunk of chunks) reader.write(chunk);
  reader.end();
}

/** Accepts the spellings of XML Schema and the variants that programs write. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:1|true|on)$/i.test(value);
}

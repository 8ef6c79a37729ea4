import type { WrittenPlace } from './place.ts';

/** Two parts of one answer or delivery cannot both stand where the profile has them. */
export class PlaceTaken extends Error {}

type Container = Record<string, unknown> | unknown[];

/** An answer, a delivery or an item of a list while it is written: JSON, or a text, with its headers. */
export class WrittenDocument {
  #body: unknown;
  #text: string | null = null;
  readonly #headers = new Map<string, { readonly name: string; readonly value: string }>();

  /** @throws PlaceTaken when something else stands there, or where the way to it goes. */
  write(place: WrittenPlace, value: unknown): void {
    if (place.kind === 'header') this.#writeHeader(place.name, value);
    else if (place.kind === 'text') this.#writeText(value);
    else this.#writePointer(place.steps, value);
  }

  /** Writes where nothing stands yet; says nothing where it cannot. */
  writeIfFree(place: WrittenPlace, value: unknown): void {
    if (this.has(place)) return;
    try {
      this.write(place, value);
    } catch (error) {
      if (!(error instanceof PlaceTaken)) throw error;
    }
  }

  read(place: WrittenPlace): unknown {
    if (place.kind === 'header') return this.#headers.get(place.name.toLowerCase())?.value;
    if (place.kind === 'text') return this.#text ?? undefined;
    let here: unknown = this.#body;
    for (const step of place.steps) {
      if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
      here = (here as Record<string, unknown>)[step];
    }
    return here;
  }

  /** Whether something stands there; null and an empty text are nothing. */
  has(place: WrittenPlace): boolean {
    const found = this.read(place);
    return found !== undefined && found !== null && found !== '';
  }

  /** Undefined: nothing was written into the body. */
  get body(): unknown {
    return this.#body;
  }

  get isText(): boolean {
    return this.#text !== null;
  }

  /** The body as it is sent; `{}` when nothing was written into it. */
  get bytes(): string {
    return this.#text ?? JSON.stringify(this.#body ?? {});
  }

  get headers(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#headers.values()].map(({ name, value }) => [name, value]));
  }

  #writeHeader(name: string, value: unknown): void {
    const text = headerText(value);
    const before = this.#headers.get(name.toLowerCase());
    if (before !== undefined && before.value !== text) throw new PlaceTaken(`header:${name}`);
    this.#headers.set(name.toLowerCase(), { name, value: text });
  }

  #writeText(value: unknown): void {
    const text = plainText(value);
    if (this.#body !== undefined || (this.#text !== null && this.#text !== text)) throw new PlaceTaken('text');
    this.#text = text;
  }

  #writePointer(steps: readonly string[], value: unknown): void {
    const shown = steps.map((step) => `/${step}`).join('');
    if (this.#text !== null) throw new PlaceTaken(shown);
    const [last, ...reversed] = steps.toReversed();
    if (last === undefined) {
      if (this.#body !== undefined) throw new PlaceTaken('the top level');
      this.#body = value;
      return;
    }
    this.#body ??= containerFor(steps[0] ?? last);
    let here = asContainer(this.#body, shown);
    for (const [index, step] of reversed.toReversed().entries()) {
      if (!Object.hasOwn(here, step)) set(here, step, containerFor(steps[index + 1] ?? last));
      here = asContainer(get(here, step), shown);
    }
    if (Object.hasOwn(here, last) && get(here, last) !== value) throw new PlaceTaken(shown);
    set(here, last, value);
  }
}

/** Steps that are numbers lead into lists. */
function containerFor(step: string): Container {
  return /^\d{1,3}$/.test(step) ? [] : {};
}

function asContainer(value: unknown, shown: string): Container {
  if (typeof value !== 'object' || value === null) throw new PlaceTaken(shown);
  return value as Container;
}

function get(container: Container, step: string): unknown {
  return (container as Record<string, unknown>)[step];
}

/** Defined, not assigned: `__proto__` is a key like any other. */
function set(container: Container, step: string, value: unknown): void {
  if (Array.isArray(container) && !/^\d{1,3}$/.test(step)) throw new PlaceTaken(`/${step}`);
  if (Array.isArray(container)) while (container.length < Number(step)) container.push(null);
  Object.defineProperty(container, step, { value, enumerable: true, writable: true, configurable: true });
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function headerText(value: unknown): string {
  return plainText(value).replaceAll(/[^\t\x20-\x7e]/g, '?');
}

import type { BookedInvoice, BookedMerchant, Family, InvoiceContent } from './family.ts';

/** One POST as it arrived. */
export interface Post {
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Merchants of other applications' making that stand in the list before the test begins. */
const STRANGERS = 250;
/** The list position of a merchant that a test brings along: late, so that whole lists must be read. */
const LATE = 231;
/** Far more than a test books; a client that runs wild is stopped. */
const MOST_ENTRIES = 20_000;

/** Everything that one fake service knows. */
export class Books {
  readonly posts: Post[] = [];
  readonly merchants: BookedMerchant[] = [];
  /** Requests that the family does not understand, as phrases. */
  readonly mistakes: string[] = [];
  readonly #answers: Family['answers'];
  readonly #invoices = new Map<string, BookedInvoice>();
  readonly #invoiceIdByKey = new Map<string, string>();
  readonly #merchantByKey = new Map<string, BookedMerchant>();
  readonly #bytesByKey = new Map<string, string>();

  constructor(answers: Family['answers'], existing: readonly string[]) {
    this.#answers = answers;
    for (let at = 1; at <= STRANGERS; at += 1) {
      if (at === LATE) for (const nif of existing) this.#addMerchant(null, merchantOf(nif));
      this.#addMerchant(null, merchantOf(String(700_000_000 + at)));
    }
  }

  get invoices(): readonly BookedInvoice[] {
    return [...this.#invoices.values()];
  }

  invoice(id: string): BookedInvoice | null {
    return this.#invoices.get(id) ?? null;
  }

  invoiceOfKey(key: string): BookedInvoice | null {
    return this.invoice(this.#invoiceIdByKey.get(key) ?? '');
  }

  merchantOfKey(key: string): BookedMerchant | null {
    return this.#merchantByKey.get(key) ?? null;
  }

  /** Whether the key is known with other bytes than these. */
  mismatches(key: string, bytes: string): boolean {
    const known = this.#bytesByKey.get(key);
    return known !== undefined && known !== bytes;
  }

  addInvoice(key: string, bytes: string, content: InvoiceContent): BookedInvoice {
    const number = this.#invoices.size + 1;
    if (number > MOST_ENTRIES) throw new Error(`The fake books at most ${MOST_ENTRIES} invoices`);
    const id = this.#answers.invoiceId(number);
    const invoice: BookedInvoice = { number, id, key, content, status: 'processing', failure: null };
    this.#invoices.set(id, invoice);
    this.#invoiceIdByKey.set(key, id);
    this.#bytesByKey.set(key, bytes);
    return invoice;
  }

  addMerchant(
    key: string,
    bytes: string,
    merchant: Pick<BookedMerchant, 'nif' | 'legalName' | 'email'>,
  ): BookedMerchant {
    const booked = this.#addMerchant(key, merchant);
    this.#merchantByKey.set(key, booked);
    this.#bytesByKey.set(key, bytes);
    return booked;
  }

  settle(id: string, failure: BookedInvoice['failure']): BookedInvoice | null {
    const invoice = this.invoice(id);
    if (invoice === null || invoice.status !== 'processing') return null;
    const settled: BookedInvoice = { ...invoice, status: failure === null ? 'issued' : 'failed', failure };
    this.#invoices.set(id, settled);
    return settled;
  }

  post(post: Post): void {
    if (this.posts.length >= MOST_ENTRIES) throw new Error(`The fake takes at most ${MOST_ENTRIES} POSTs`);
    this.posts.push(post);
  }

  /** How often a key was POSTed. */
  triesOf(key: string): number {
    return this.posts.filter((post) => post.key === key).length;
  }

  #addMerchant(key: string | null, merchant: Pick<BookedMerchant, 'nif' | 'legalName' | 'email'>): BookedMerchant {
    const number = this.merchants.length + 1;
    if (number > MOST_ENTRIES) throw new Error(`The fake books at most ${MOST_ENTRIES} merchants`);
    const { nif, legalName, email } = merchant;
    const booked: BookedMerchant = { number, id: this.#answers.merchantId(number), key, nif, legalName, email };
    this.merchants.push(booked);
    return booked;
  }
}

function merchantOf(nif: string): Pick<BookedMerchant, 'nif' | 'legalName' | 'email'> {
  return { nif, legalName: `Empresa ${nif}`, email: `geral@${nif}.example` };
}

import { wordsOf } from './readable-words.ts';

/**
 * What the name of a member or header says of its value: `private` (names, tax numbers, addresses), `secret`, `id`, `word` (a status, a code, a type), `number`
 * (counts, amounts, times), `text` (a sentence), or nothing that is known.
 */
export type KeyKind = 'private' | 'secret' | 'id' | 'word' | 'number' | 'text' | 'other';

const SECRET =
  'authorization cookie cookie2 credential credentials hmac passphrase password passwd secret secrets session signature signatures signing token tokens apikey bearer sig';
const PRIVATE =
  'name names legal surname firstname lastname fullname email emails mail phone telephone tel mobile fax address addresses street city town postal postcode zip contact person owner holder debtor recipient buyer seller payer payee beneficiary customer client nif nipc nie cif dni vat tin cpf cnpj siret siren taxpayer fiscal passport iban bic bank birth gender nome nombre morada correo telefono telefone razao razon denominacao apellido apellidos apelido cliente contribuinte';
const WORD =
  'status state phase stage type kind event events topic action code codes reason reasons result outcome error errors severity level currency object mode scheme method field param pointer success ok category unit version environment means verdict estado tipo codigo situacao situacion origin algorithm';
const NUMBER =
  'amount total net gross price count size quantity rate page pages per limit offset skip take at time timestamp date created updated expires expiry length retry index position';
const TEXT =
  'message messages msg detail details title text description hint explanation summary mensagem mensaje descricao descripcion note notes';
const PEOPLE = 'customer client person buyer payer taxpayer debtor contact tax vat fiscal';
const KEYS = 'api private access signing';
const PAGES = 'page next cursor continuation';
const CODES = 'fiscal vat nif taxpayer postal zip tin';

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const SETS = { secret: set(SECRET), private: set(PRIVATE), word: set(WORD), number: set(NUMBER), text: set(TEXT) };
const [OF_PEOPLE, OF_KEYS, OF_CODES, OF_PAGES] = [set(PEOPLE), set(KEYS), set(CODES), set(PAGES)];
const ID = set('id ids uuid guid href self');
const TAX_ID = set('id ids number no nr nbr identifier identification');

/** The kind of a member's or header's name; what may be private or secret wins. */
export function kindOfKey(key: string): KeyKind {
  const words = wordsOf(key).map((word) => word.toLowerCase());
  const has = (known: ReadonlySet<string>): boolean => words.some((word) => known.has(word));
  const last = words.at(-1) ?? '';
  if ((has(SETS.secret) && !has(OF_PAGES)) || (has(OF_KEYS) && last === 'key')) return 'secret';
  if ((words.includes('tax') && has(TAX_ID)) || (last === 'code' && has(OF_CODES))) return 'private';
  if (ID.has(last)) return has(OF_PEOPLE) ? 'private' : 'id';
  if (SETS.word.has(last)) return 'word';
  if (has(SETS.private)) return 'private';
  if (has(SETS.text)) return 'text';
  if (has(SETS.word)) return 'word';
  return has(SETS.number) ? 'number' : 'other';
}

const MAGIC: readonly (readonly [string, string])[] = [
  ['504b0506', 'an empty ZIP archive'],
  ['25504446', 'a PDF document'],
  ['1f8b', 'a gzip archive'],
  ['d0cf11e0a1b11ae1', 'an old Excel workbook (XLS), or one with a password'],
  ['377abcaf271c', 'a 7-Zip archive'],
  ['52617221', 'a RAR archive'],
  ['53514c69746520666f726d6174', 'an SQLite database'],
  ['425a68', 'a bzip2 archive'],
  ['fd377a585a00', 'an xz archive'],
  ['28b52ffd', 'a Zstandard archive'],
  ['89504e470d0a1a0a', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['50415231', 'a Parquet file'],
];

/** What a file is when it is none of the formats Lote reads, in words for an operator; null when nothing speaks against text. */
export function foreignFormat(head: Buffer): string | null {
  const hex = head.subarray(0, 16).toString('hex');
  const magic = MAGIC.find(([prefix]) => hex.startsWith(prefix));
  if (magic !== undefined) return magic[1];
  const text = head
    .subarray(0, 512)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart()
    .toLowerCase();
  if (/^<(?:!doctype html|html|table|head|body)\b/.test(text)) return 'an HTML page';
  if (text.startsWith('{\\rtf')) return 'a text document in RTF';
  if (text.startsWith('mime-version:')) return 'a web archive (MHTML), as some programs export for Excel';
  if (/^<(?:\?xml|\w+[\s:>])/.test(text)) return 'an XML document';
  return null;
}

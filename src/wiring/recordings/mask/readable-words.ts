/** Words of services about requests, invoices and errors, in English, Portuguese and Spanish. No word of them is a usual name. */
const WORDS = `
a about above accepted access account action active actual after again age allowed already also amount an and another any api app application are argument as at
authenticated authentication authority authorized authorizing available b bad be because been before begin below between blocked body both broken bucket busy but by
callback called can cannot canceled cancelled case certificate change changed changes character characters charge check choose client closed code codes com company
completed conflict contain contains content continue correct could count country cpf create created creating creation credential credentials credit currency
customer customers cut d data database date day days decimal declined default delayed delete deleted delivered delivery denied detail details did different digit
digits disabled discount document documents does done down draft due duplicate duplicated e each early email empty enabled end ended endpoint engine enough entity
entry environment error errors eur event events exceed exceeded exhausted exist existing exists expected expired fail failed failing failure fatal fault field fields
file final finalized find first flight for forbidden format found from full fully gateway gbp get give given go gone good had has have header held here high hour
hours http https i id idempotency idempotent identifier if ignored in inactive index information input insufficient integer internal invalid invoice invoiced
invoices io is issue issued issuing it item items its iva j journal json k key keys kind known last late later length less limit limited line lines link list live
locked log long longer lost main malformed many maximum may mean means merchant merchants message method minimum minute minutes mismatch missing mode more most must
name need needed needs negative net never new next nif nipc no none not nothing now null number numbers object of off ok old on once one only open operation or
other out outside over page paid parameter parameters part partial parse party pass past path pay payload payment pending per percent period permission permitted
phase please point positive possible posted present price problem process processed processing product profile project projects property provided public quantity
queue queued quota range rate ratelimited reached read reason received record reference refund refunded refused registered registration reject rejected remove removed
repeat repeated request requested requests require required resource response result retry return returned row rule same scheduled schema scheme second seconds section
see send sent series server service services should shown size slow some soon stage start started state status step stopped string submitted succeeded success
successful such supported suspended system t tax taxes taxpayer tenant test text than that the their them then there these they this those time timeout times title
to together token too total transaction true try twice type unauthenticated unauthorized unavailable under unexpected unique unit unknown unprocessable unsupported
until up update updated upstream url usd use used user v v1 v2 v3 valid validated validating validation value values vat version void voided wait waiting was way
webhook webhooks were what when where which while why will with within without word wrong year yes yet you your zero
aberta aberto aceita aceite anulada anulado aprovada aprovado atual campo cancelada cancelado cliente com comerciante como da dados data de devolvida do documento
duplicada duplicado e emitida emitido em encontrada encontrado erro errado está esta estado existe falha falhada falhou falta fatura faturas fechada foi inexistente
inválida inválido invalida invalido já ja linha mais moeda na não nao no nota obrigatória obrigatório obrigatoria obrigatorio os ou para pedido pendente por
processada processado processamento quantidade que recebida recebido recusada recusado rejeitada rejeitado série serie serviço servico um uma válida válido valida
valido valor
aceptada aceptado anular aprobada aprobado cancelar cerrada cerrado clave código codigo con conocida conocido correcta correcto creada creado del demasiadas demasiado
desconocida desconocido duplicado el ella emisión enviada enviado es existente factura facturada facturado facturas fallida fallido fallo fecha impuesto inválido
la las lo los moneda muchas no obligatoria obligatorio pagada pagado pago pedido pendiente petición precio proceso rechazada rechazado recibida recibido servicio
si sin su tipo una y ya
`;

const READABLE: ReadonlySet<string> = new Set(WORDS.split(/\s+/).filter((word) => word !== ''));

/** Whether a single word, in any case, may stay as it is. */
export function isReadable(word: string): boolean {
  return READABLE.has(word.toLowerCase());
}

/** The words of a compound such as `InvoiceIssued`, `invoice.issued` or `IN_PROGRESS`. */
export function wordsOf(text: string): readonly string[] {
  return text
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Whether a text is a compound of usual words, such as `InvoiceIssued` or `invoice.issued`; no name of a person or company is written so. */
export function isUsualCompound(text: string): boolean {
  if (/\s/.test(text) || !/[\p{Ll}\d]\p{Lu}|[._\\]/u.test(text)) return false;
  const words = wordsOf(text);
  return words.length > 1 && words.every(isReadable);
}

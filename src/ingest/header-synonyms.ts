import type { Column } from '../domain/row.ts';

/**
 * Headers understood for each column besides its own name, in Portuguese, Spanish and English, written without accents, case or
 * separators (see `headerKey`). A word that could mean two columns (`nome`, `date`, `total`) is left out on purpose.
 */
export const HEADER_SYNONYMS: Readonly<Record<Column, readonly string[]>> = {
  invoice_ref: ['referencia', 'reffatura', 'referenciafatura', 'fatura', 'nfatura', 'numerofatura', 'nofatura', 'numfatura', 'factura', 'nfactura', 'numerofactura', 'numfactura', 'nofactura', 'documento', 'ndocumento', 'numerodocumento', 'invoice', 'invoiceno', 'invoicenumber', 'invoicereference', 'reference', 'ref'],
  merchant_nif: ['nif', 'contribuinte', 'ncontribuinte', 'nifemitente', 'nifemissor', 'nifcomerciante', 'nifvendedor', 'nifemisor', 'merchanttaxid', 'sellertaxid', 'sellernif', 'suppliernif', 'suppliertaxid'],
  merchant_legal_name: ['emitente', 'nomeemitente', 'comerciante', 'nomecomerciante', 'vendedor', 'razaosocial', 'razonsocial', 'emisor', 'merchant', 'merchantname', 'seller', 'sellername', 'supplier', 'suppliername'],
  merchant_email: ['emailemitente', 'emailcomerciante', 'emailvendedor', 'emailemisor', 'selleremail', 'supplieremail'],
  customer_name: ['cliente', 'nomecliente', 'nomedocliente', 'nombrecliente', 'nombredelcliente', 'comprador', 'adquirente', 'customer', 'client', 'clientname', 'buyer', 'buyername'],
  customer_tax_id: ['nifcliente', 'nifdocliente', 'contribuintecliente', 'nifadquirente', 'nifcomprador', 'cifcliente', 'nifdelcliente', 'customertaxnumber', 'customervat', 'customernif', 'clienttaxid', 'buyertaxid', 'buyernif'],
  currency: ['moeda', 'moneda', 'divisa', 'currencycode'],
  description: ['descricao', 'designacao', 'artigo', 'produto', 'descripcion', 'concepto', 'articulo', 'producto', 'item', 'itemdescription', 'product'],
  quantity: ['quantidade', 'qtd', 'qtde', 'quant', 'cantidad', 'cant', 'unidades', 'qty', 'units'],
  unit_price: ['precounitario', 'punitario', 'punit', 'preco', 'preciounitario', 'precio', 'price', 'unitcost', 'priceperunit'],
  tax_code: ['iva', 'codigoiva', 'taxaiva', 'taxa', 'imposto', 'tipoiva', 'impuesto', 'codigoimpuesto', 'vat', 'vatcode', 'tax', 'taxrate', 'vatrate'],
};

"""Writes corpus files with XlsxWriter and odfpy: python xlsxwriter_files.py FOLDER"""
import datetime, os, sys, tempfile
import xlsxwriter
from odf.opendocument import OpenDocumentSpreadsheet
from odf.style import Style, TableProperties
from odf.table import CoveredTableCell, Table, TableCell, TableRow
from odf.text import P, S
from odf.office import Annotation

out = sys.argv[1] + '/'
H = ['invoice_ref', 'merchant_nif', 'customer_name', 'currency', 'description', 'quantity', 'unit_price', 'tax_code']


def row(ref, nif='501964843', customer='Ana', currency='EUR', text='Pão', quantity=1, price=2.5, code='IVA_23'):
    return [ref, nif, customer, currency, text, quantity, price, code]


def fill(s, rows, first=0):
    for at, cells in enumerate([H, *rows]):
        for column, cell in enumerate(cells):
            s.write(first + at, column, cell)


# Texts in the cells, rows without styles.
w = xlsxwriter.Workbook(out + 'xlsxwriter-inline.xlsx', {'constant_memory': True})
fill(w.add_worksheet('Lista'), [row('F1'), row('F2', quantity=7, price=99.95), row('F3', text=' espaço '), row('F4', price=-3.25)])
w.close()

# Formulas with the value 0 that XlsxWriter writes until another program calculates them.
w = xlsxwriter.Workbook(out + 'xlsxwriter-formulas.xlsx')
s = w.add_worksheet()
fill(s, [row('F1'), row('F2'), row('F3')])
s.write_formula('G3', '=2*1.25')
s.write_formula('G4', '=2*1.25', None, 2.5)
w.close()

# Errors, booleans, dates with a time, numbers that show text.
w = xlsxwriter.Workbook(out + 'xlsxwriter-wrong-values.xlsx', {'default_date_format': 'dd/mm/yyyy'})
s = w.add_worksheet()
fill(s, [row('F1', price='#N/A'), row('F2', price=True), row('F3', price=datetime.datetime(2026, 2, 1)), row('F4', text=datetime.datetime(2026, 2, 1)), row('F5'), row(6)])
s.write('A7', 6, w.add_format({'num_format': '"FT "0'}))
s.write('G6', 2.5, w.add_format({'num_format': '#,##0.00 "€"'}))
w.close()

# A filter hides a row; a totals row stands below; panes are frozen, and a table is declared.
w = xlsxwriter.Workbook(out + 'xlsxwriter-filter-and-total.xlsx')
s = w.add_worksheet('Vendas')
fill(s, [row('F1'), row('F2', price=3), ['Total', None, None, None, None, None, 5.5, None]])
s.autofilter('A1:H3')
s.filter_column('G', 'x < 3')
s.set_row(2, None, None, {'hidden': True})
s.freeze_panes(1, 0)
s.insert_textbox('K2', 'invoice_ref')
w.close()

# A chart sheet, a very hidden sheet, a name that must be escaped.
w = xlsxwriter.Workbook(out + 'xlsxwriter-very-hidden.xlsx')
s = w.add_worksheet('Vendas & "Cª"')
fill(s, [row('F1', price=0.1), row('F1', text='Bolo', price=0.2)])
h = w.add_worksheet('Velhas')
fill(h, [row('OLD')])
h.very_hidden()
c = w.add_chartsheet()
chart = w.add_chart({'type': 'line'})
chart.add_series({'values': "='Velhas'!$G$2:$G$3"})
c.set_chart(chart)
w.close()

# Macros, which are never run.
# (XlsxWriter takes the binary as it is; these bytes are no macro at all.)
no_macro = os.path.join(tempfile.mkdtemp(), 'vbaProject.bin')
open(no_macro, 'wb').write(b'no macro')
w = xlsxwriter.Workbook(out + 'xlsxwriter-macros.xlsm')
w.add_vba_project(no_macro)
fill(w.add_worksheet('Folha1'), [row('F1')])
w.close()


def cell(value, **more):
    if isinstance(value, (int, float)):
        made = TableCell(valuetype='float', value=value, **more)
    else:
        made = TableCell(valuetype='string', **more)
    made.addElement(P(text=str(value)))
    return made


def ods(name, tables):
    d = OpenDocumentSpreadsheet()
    hidden = Style(name='hidden', family='table')
    hidden.addElement(TableProperties(display='false'))
    d.automaticstyles.addElement(hidden)
    for title, rows, style in tables:
        t = Table(name=title, **({'stylename': hidden} if style == 'hidden' else {}))
        for r in rows:
            t.addElement(r)
        d.spreadsheet.addElement(t)
    d.save(out + name)


def line(cells, **more):
    made = TableRow(**more)
    for one in cells:
        made.addElement(one if not isinstance(one, (str, int, float)) else cell(one))
    return made


# Rows that stand for several, a comment inside a cell, spaces as elements, a hidden row.
noted = cell('F2')
note = Annotation()
note.addElement(P(text='F9'))
noted.insertBefore(note, noted.firstChild)
spaced = TableCell(valuetype='string')
p = P(text='Pão')
p.addElement(S(c=2))
p.addText('alto')
spaced.addElement(p)
ods('odfpy-rows.ods', [('Faturas', [
    line(H),
    line(row('F1'), numberrowsrepeated=2),
    line([noted, '501964843', 'Ana', 'EUR', spaced, 3, 1.25, 'IVA_23']),
    line(row('F3'), visibility='collapse'),
    line(row('F4', price=0.3)),
], '')])

# A merged reference, a formula without a value, a hidden sheet with a header.
span = cell('F1', numberrowsspanned=2, numbercolumnsspanned=1)
formula = TableCell(formula='of:=1+1')
ods('odfpy-merged-and-hidden.ods', [
    ('Faturas', [
        line(H),
        line([span, *row('')[1:]]),
        line([CoveredTableCell(), *row('', text='Bolo')[1:]]),
        line([*row('F2', customer='Rui')[:6], formula, 'IVA_23']),
        line(row('F3', customer='Eva')),
    ], ''),
    ('Velhas', [line(H), line(row('OLD'))], 'hidden'),
])

# Two sheets with a header.
ods('odfpy-two-sheets.ods', [('Um', [line(H), line(row('F1'))], ''), ('Dois', [line(H), line(row('F2', price=3))], '')])

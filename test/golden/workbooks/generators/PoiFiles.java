import java.io.FileOutputStream;
import org.apache.poi.ss.usermodel.*;
import org.apache.poi.ss.util.CellRangeAddress;
import org.apache.poi.xssf.streaming.SXSSFWorkbook;
import org.apache.poi.xssf.usermodel.XSSFWorkbook;

/** Writes corpus files with Apache POI: java -cp 'lib/*' PoiFiles.java FOLDER */
public class PoiFiles {
  static final String[] HEADER = {"invoice_ref", "merchant_nif", "customer_name", "currency", "description", "quantity", "unit_price", "tax_code"};

  static void row(Sheet sheet, int at, Object... cells) {
    Row row = sheet.createRow(at);
    for (int column = 0; column < cells.length; column++) {
      if (cells[column] instanceof Number number) row.createCell(column).setCellValue(number.doubleValue());
      else row.createCell(column).setCellValue((String) cells[column]);
    }
  }

  static void save(Workbook book, String folder, String name) throws Exception {
    try (FileOutputStream file = new FileOutputStream(folder + "/" + name)) {
      book.write(file);
    }
  }

  public static void main(String[] arguments) throws Exception {
    String out = arguments[0];
    Workbook plain = new XSSFWorkbook();
    Sheet sheet = plain.createSheet("Faturas");
    row(sheet, 0, (Object[]) HEADER);
    row(sheet, 1, "F1", 501964843, "Ana", "EUR", "Pão", 1, 2.5, "IVA_23");
    row(sheet, 2, "F1", 501964843, "Ana", "EUR", "Bolo", 3, 0.1, "IVA_23");
    row(sheet, 3, "F2", 501964843, "Ana", "EUR", "Chá", 1, 1e21, "IVA_23");
    save(plain, out, "poi.xlsx");

    Workbook formulas = new XSSFWorkbook();
    sheet = formulas.createSheet("Faturas");
    row(sheet, 0, (Object[]) HEADER);
    row(sheet, 1, "F1", 501964843, "Ana", "EUR", "Pão", 1, 2.5, "IVA_23");
    row(sheet, 2, "F2", 501964843, "Rui", "EUR", "Pão", 1, 2.5, "IVA_23");
    row(sheet, 3, "F3", 501964843, "Eva", "EUR", "Pão", 1, 2.5, "IVA_23");
    sheet.getRow(1).getCell(6).setCellFormula("1+1.5");
    sheet.getRow(2).getCell(6).setCellFormula("LOG(-1)");
    sheet.addMergedRegion(new CellRangeAddress(3, 3, 3, 4));
    formulas.getCreationHelper().createFormulaEvaluator().evaluateAll();
    save(formulas, out, "poi-formulas.xlsx");

    formulas.setForceFormulaRecalculation(true);
    save(formulas, out, "poi-recalculate.xlsx");

    SXSSFWorkbook streamed = new SXSSFWorkbook(10);
    sheet = streamed.createSheet("Faturas");
    row(sheet, 0, (Object[]) HEADER);
    for (int at = 1; at <= 40; at++) row(sheet, at, "F" + (at % 2), "501964843", "Ana", "EUR", "Linha " + at, at, 0.25, "IVA_23");
    save(streamed, out, "poi-streamed.xlsx");
  }
}

/**
 * Shares of funds that some issuer tokenizes.
 *
 * Ids are fixed: they were drawn at random once and never change. Source of names: the tokens' own lists (see
 * `tokens/`).
 */

/** Symbol, name, canonical id. */
export const funds = [
  ["BND", "Vanguard Total Bond Market ETF", "ce9a04b1-c971-4b89-82d5-419bae2fc9e4"],
  ["GLD", "SPDR Gold Shares", "e90a7473-2221-4e8a-badb-5a99082f3e17"],
  ["QQQ", "Invesco QQQ", "e5a54ccd-d359-4f3c-8b76-3b182075ccc9"],
  ["SCHD", "Schwab US Dividend Equity ETF", "b259ef68-abde-41a5-aa68-9624014b9900"],
  ["SGOV", "iShares 0-3 Month Treasury Bond ETF", "5b04968e-a727-4a86-8dec-0f45f96bd592"],
  ["SLV", "iShares Silver Trust", "83e0eb4d-f9ea-458a-9695-09c4307a5e55"],
  ["SMH", "VanEck Semiconductor ETF", "f1111eb5-ebe7-46a8-a10c-147f2692cbf2"],
  ["SOXX", "iShares Semiconductor ETF", "5f9aebf0-1545-44de-8432-4dfc68475256"],
  ["SPY", "SPDR S&P 500 ETF Trust", "fc0bda59-66bc-43bc-80e4-9b4f49a52a4d"],
  ["USO", "United States Oil Fund", "2b02b881-b957-4861-940c-7bb98d64b0d5"],
  ["VTI", "Vanguard Total Stock Market ETF", "dcc8be3f-5ef5-4cd5-bbaa-4b0498932793"],
  ["XLK", "Technology Select Sector SPDR ETF", "9a9bd2db-8131-4ecb-9f47-b28936c1e7ab"]
] as const

export type Fund = (typeof funds)[number][0]

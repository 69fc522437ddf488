/**
 * Tokenized stocks of Coinbase on Base: the raw balance is multiplied on chain (Base B20).
 *
 * Source: addresses published for the Base network's tokenized stocks.
 */
import { onChain, tokenized } from "#layers/catalogue/represent.ts"

export const coinbase = tokenized(
  { issuer: "coinbase", chain: onChain(8453), unitModel: "scaled", decimals: 8, symbolOf: (ticker) => `${ticker}c` },
  {
    AAPL: "0xb200000000000000000000C2e324d24d7eEcd1fb",
    AMZN: "0xb200000000000000000000d9192b6B456483C2E8",
    COIN: "0xb200000000000000000000c85a31389D71F3ecfb",
    CRCL: "0xB20000000000000000000019f6E7C675b73C2e4D",
    GOOGL: "0xb2000000000000000000002D0BA3164cc74f58B7",
    META: "0xb2000000000000000000008bC8786B856E61707C",
    MSFT: "0xB200000000000000000000Ab99cFa739E253872B",
    MSTR: "0xb2000000000000000000004884b426556b92883d",
    NVDA: "0xb20000000000000000000078ee7ce2fE4908108C",
    TSLA: "0xb2000000000000000000001e800a7f5189430cD0"
  }
)

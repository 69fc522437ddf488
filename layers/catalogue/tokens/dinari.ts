/**
 * dShares of Dinari: rebasing. Addresses before a migration of the tokens stay here, since they name the same share.
 *
 * Source: public adapters that read the issuer's tokens.
 */
import { onChain, tokenized } from "#layers/catalogue/represent.ts"

const arbitrum = tokenized(
  { issuer: "dinari", chain: onChain(42161), unitModel: "rebasing", decimals: 18, symbolOf: (ticker) => `${ticker}.d` },
  {
    AAPL: "0xCe38e140fC3982a6bCEbc37b040913EF2Cd6C5a7",
    AMZN: "0x8240aFFe697CdE618AD05c3c8963f5Bfe152650b",
    COIN: "0x46b979440AC257151EE5a5bC9597B76386907FA1",
    GOOGL: "0x8E50D11a54CFF859b202b7Fe5225353bE0646410",
    META: "0x519062155B0591627C8A0C0958110A8C5639DcA6",
    MSFT: "0x77308F8B63A99b24b262D930E0218ED2f49F8475",
    NVDA: "0x4DaFFfDDEa93DdF1e0e7B61E844331455053Ce5c",
    SPY: "0xF4BD09B048248876E39Fcf2e0CDF1aee1240a9D2",
    TSLA: "0x36d37B6cbCA364Cf1D843efF8C2f6824491bcF81"
  }
)

const base = tokenized(
  { issuer: "dinari", chain: onChain(8453), unitModel: "rebasing", decimals: 18, symbolOf: (ticker) => `${ticker}.d` },
  {
    AAPL: "0x41F7A63713e76c0aB800Be03Bae9F17B8A356348",
    NVDA: "0x92ECF64fDb76E60b76d78A29Ad4BF9D38B7b1b97",
    TSLA: "0x74Ed07d83999bC5DB0ffd850da0a6Bd782AbD39c"
  }
)

export const dinari = [...arbitrum, ...base]

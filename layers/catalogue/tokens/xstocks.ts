/**
 * xStocks of Backed Assets: rebasing on EVM chains, multiplied on Solana (Token-2022 scaled amounts).
 *
 * Source: public token registries of custodians and of the issuer. On BNB Chain a token has its address of Ethereum.
 */
import { onChain, onSolana, tokenized } from "#layers/catalogue/represent.ts"

const ethereum = tokenized(
  { issuer: "xstocks", chain: onChain(1), unitModel: "rebasing", decimals: 18, symbolOf: (ticker) => `${ticker}x` },
  {
    AAPL: "0x9d275685dC284C8eB1C79f6ABA7a63Dc75ec890a",
    AMZN: "0x3557Ba345B01EFa20A1bdDC61F573BFD87195081",
    COIN: "0x364f210f430eC2448Fc68A49203040F6124096F0",
    CRCL: "0xfEbDEd1B0986a8ee107f5AB1a1c5a813491DeCEB",
    GOOGL: "0xe92f673Ca36C5E2Efd2DE7628f815f84807e803F",
    HOOD: "0xE1385FDd5ffB10081Cd52C56584F25EFa9084015",
    META: "0x96702be57Cd9777f835117a809C7124fe4ec989A",
    MSFT: "0x5621737f42dAE558b81269FcB9E9E70c19Aa6b35",
    MSTR: "0xAE2f842EF90C0d5213259Ab82639D5BBF649b08E",
    NFLX: "0xA6a65AC27E76cD53cB790473E4345c46e5eBf961",
    NVDA: "0xc845b2894dBddd03858fd2D643B4eF725fE0849d",
    PLTR: "0x6d482CeC5f9dd1f05CCee9Fd3ff79B246170F8e2",
    QQQ: "0xa753A7395cAe905Cd615Da0B82A53E0560f250af",
    SPY: "0x90A2a4c76b5D8c0bc892A69EA28Aa775a8f2dD48",
    TSLA: "0x8aD3c73F833d3F9A523aB01476625F269aEB7Cf0"
  }
)

const bnbChain = tokenized(
  { issuer: "xstocks", chain: onChain(56), unitModel: "rebasing", decimals: 18, symbolOf: (ticker) => `${ticker}x` },
  {
    AAPL: "0x9d275685dC284C8eB1C79f6ABA7a63Dc75ec890a",
    NVDA: "0xc845b2894dBddd03858fd2D643B4eF725fE0849d",
    TSLA: "0x8aD3c73F833d3F9A523aB01476625F269aEB7Cf0"
  }
)

const solana = tokenized(
  { issuer: "xstocks", chain: onSolana, unitModel: "scaled", decimals: 8, symbolOf: (ticker) => `${ticker}x` },
  {
    AAPL: "XsbEhLAtcf6HdfpFZ5xEMdqW8nfAvcsP5bdudRLJzJp",
    AMZN: "Xs3eBt7uRfJX8QUs4suhyU8p2M6DoUDrJyWBa8LLZsg",
    COIN: "Xs7ZdzSHLU9ftNJsii5fCeJhoRWSC32SQGzGQtePxNu",
    CRCL: "XsueG8BtpquVJX9LVLLEGuViXUungE6WmK5YZ3p3bd1",
    GOOGL: "XsCPL9dNWBMvFtTmwcCA5v3xWPSMEBCszbQdiLLq6aN",
    HOOD: "XsvNBAYkrDRNhA7wPHQfX3ZUXZyZLdnCQDfHZ56bzpg",
    META: "Xsa62P5mvPszXL1krVUnU5ar38bBSVcWAB6fmPCo5Zu",
    MSFT: "XspzcW1PRtgf6Wj92HCiZdjzKCyFekVD8P5Ueh3dRMX",
    MSTR: "XsP7xzNPvEHS1m6qfanPUGjNmdnmsLKEoNAnHjdxxyZ",
    NFLX: "XsEH7wWfJJu2ZT3UCFeVfALnVA6CP5ur7Ee11KmzVpL",
    NVDA: "Xsc9qvGR1efVDFGLrVsmkzv3qi45LTBjeUKSPmx9qEh",
    PLTR: "XsoBhf2ufR8fTyNSjqfU71DYGaE6Z3SUGAidpzriAA4",
    QQQ: "Xs8S1uUs1zvS2p7iwtsG3b6fkhpvmwz4GYU3gWAmWHZ",
    SPY: "XsoCS1TfEyfFhfvj8EtZ528L3CaKBDBRqRapnBbDF2W",
    TSLA: "XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB"
  }
)

export const xstocks = [...ethereum, ...bnbChain, ...solana]

/**
 * Ondo Stocks: a token gains shares as income is reinvested on EVM chains, and is multiplied on Solana.
 *
 * Source: the issuer's token list (checksums normalized) and its published Solana mints.
 */
import { onChain, onSolana, tokenized } from "#layers/catalogue/represent.ts"

const ethereum = tokenized(
  { issuer: "ondo", chain: onChain(1), unitModel: "accruing", decimals: 18, symbolOf: (ticker) => `${ticker}on` },
  {
    AAPL: "0x14c3abF95Cb9C93a8b82C1CdCB76D72Cb87b2d4c",
    AMZN: "0xbb8774FB97436d23d74C1b882E8E9A69322cFD31",
    COIN: "0xF042cfa86cf1D598a75Bdb55c3507a1F39f9493b",
    CRCL: "0x3632DEa96A953C11dac2f00b4A05a32CD1063fAE",
    GOOGL: "0xbA47214eDd2bb43099611b208f75E4b42FDcfEDc",
    HOOD: "0x998f02A9E343EF6E3E6f28700d5A20F839fD74E6",
    META: "0x59644165402b611b350645555B50Afb581C71EB2",
    MSFT: "0xB812837b81a3a6b81d7CD74CfB19A7f2784555E5",
    MSTR: "0xCabD955322dfbf94C084929ac5E9Eca3fEB5556F",
    NFLX: "0x032deC3372F25C41EA8054B4987a7c4832CDB338",
    NVDA: "0x2D1F7226Bd1F780AF6B9A49DCC0aE00E8Df4bDEE",
    PLTR: "0x0c666485b02F7A87d21AdD7AEb9F5e64975AA490",
    QQQ: "0x0e397938C1Aa0680954093495B70A9F5e2249aBa",
    SPY: "0xFeDC5f4a6c38211c1338aa411018DFAf26612c08",
    TSLA: "0xf6b1117ec07684D3958caD8BEb1b302bfD21103f"
  }
)

const bnbChain = tokenized(
  { issuer: "ondo", chain: onChain(56), unitModel: "accruing", decimals: 18, symbolOf: (ticker) => `${ticker}on` },
  {
    AAPL: "0x390a684EF9cADE28A7AD0DFa61AB1Eb3842618c4",
    AMZN: "0x4553cFe1C09f37f38b12dC509F676964e392F8Fc",
    COIN: "0xf8589b526FdD65F7F301c605a6e04F0F1b4B3620",
    CRCL: "0x992879Cd8ce0c312d98648875B5A8D6D042cbF34",
    GOOGL: "0x091FC7778e6932d4009B087B191D1EE3bac5729A",
    HOOD: "0x19601179A60f55Ff6636F5D1A8b6671053Bd60a8",
    META: "0xD7dF5863A3e742F0c767768cDfcb63f09E0422f6",
    MSFT: "0x6Bfe75D1ad432050eA973C3A3DcD88F02e2444C3",
    MSTR: "0x7313EA16493b2f55054Df0131A3A14B043ec8992",
    NFLX: "0x7048F5227b032326cC8DBC53cF3FdDD947a2c757",
    NVDA: "0xA9eE28C80f960B889dFbd1902055218cBa016F75",
    PLTR: "0x9351AbD19f42101dD36025E495B98E910b255d78",
    QQQ: "0x0cdE6936d305d5B34667fC46425E852efd73559a",
    SPY: "0x6a708EAD771238919D85930b5a0f10454E1C331a",
    TSLA: "0x2494b603319d4D9F9715c9f4496d9E0364B59d93"
  }
)

const solana = tokenized(
  { issuer: "ondo", chain: onSolana, unitModel: "scaled", decimals: 9, symbolOf: (ticker) => `${ticker}on` },
  {
    AAPL: "123mYEnRLM2LLYsJW3K6oyYh8uP1fngj732iG638ondo",
    AMZN: "14Tqdo8V1FhzKsE3W2pFsZCzYPQxxupXRcqw9jv6ondo",
    COIN: "5u6KDiNJXxX4rGMfYT4BApZQC5CuDNrG6MHkwp1ondo",
    CRCL: "6xHEyem9hmkGtVq6XGCiQUGpPsHBaoYuYdFNZa5ondo",
    GOOGL: "bbahNA5vT9WJeYft8tALrH1LXWffjwqVoUbqYa1ondo",
    HOOD: "BVdXGvmgi6A9oAiwWvBvP76fyTqcCNRJMM7zMN6ondo",
    META: "fDxs5y12E7x7jBwCKBXGqt71uJmCWsAQ3Srkte6ondo",
    MSFT: "FRmH6iRkMr33DLG6zVLR7EM4LojBFAuq6NtFzG6ondo",
    MSTR: "FSz4ouiqXpHuGPcpacZfTzbMjScoj5FfzHkiyu2ondo",
    NFLX: "g4KnPrxPLeeKkwvDmZFMtYQPM64eHeShbD55vK6ondo",
    NVDA: "gEGtLTPNQ7jcg25zTetkbmF7teoDLcrfTnQfmn2ondo",
    PLTR: "HfsnTS5qtdStwec9DfBrunRqnAMYMMz1kjv9Hu9ondo",
    QQQ: "HrYNm6jTQ71LoFphjVKBTdAE4uja7WsmLG8VxB8ondo",
    SPY: "k18WJUULWheRkSpSquYGdNNmtuE2Vbw1hpuUi92ondo",
    TSLA: "KeGv7bsfR4MheC1CkmnAVceoApjrkvBhHYjWb67ondo"
  }
)

export const ondo = [...ethereum, ...bnbChain, ...solana]

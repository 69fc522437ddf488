import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import * as Caip from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"

const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

describe("EIP-55", () => {
  // The test vectors of the EIP.
  it.each([
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"
  ])("%s is its own checksum", (address) => {
    assert.strictEqual(Eip55.checksum(address.toLowerCase()), address)
    assert.isTrue(Eip55.isValid(address))
  })

  it("refuses a wrong checksum, and accepts one case throughout", () => {
    assert.isFalse(Eip55.isValid("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"))
    assert.isTrue(Eip55.isValid(usdc.toLowerCase()))
    assert.isTrue(Eip55.isValid(`0x${usdc.slice(2).toUpperCase()}`))
  })
})

describe("identifiers", () => {
  const decode = <S extends Schema.Codec<string, string>>(schema: S) => Schema.decodeUnknownOption(schema)

  it("one spelling comes out, whatever case goes in", () => {
    const expected = Option.some(`eip155:8453/erc20:${usdc}`)
    assert.deepStrictEqual(decode(Caip.AssetId)(`eip155:8453/erc20:${usdc.toLowerCase()}`), expected)
    assert.deepStrictEqual(decode(Caip.AssetId)(`eip155:8453/erc20:${usdc}`), expected)
  })

  it.each([
    `eip155:0/erc20:${usdc}`,
    `eip155:08453/erc20:${usdc}`,
    `eip155:8453/erc721:${usdc}`,
    `eip155:8453/erc20:${usdc.slice(0, -1)}`,
    `eip155:8453/erc20:${usdc} `,
    usdc,
    ""
  ])("refuses %j as an asset", (text) => assert.isTrue(Option.isNone(decode(Caip.AssetId)(text))))

  it("any asset of the catalogue is an ERC-20 or an SPL token", () => {
    const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
    const spl = `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/spl:${mint}`
    assert.strictEqual(Caip.spl(mint), spl)
    assert.deepStrictEqual(decode(Caip.AssetId)(spl), Option.some(spl))
    assert.deepStrictEqual(
      decode(Caip.AssetId)(`eip155:8453/erc20:${usdc.toLowerCase()}`),
      Option.some(`eip155:8453/erc20:${usdc}`)
    )
    assert.isTrue(Option.isNone(decode(Caip.Erc20AssetId)(spl)))
  })

  it.each([
    `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/spl:${usdc}`,
    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/spl:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt",
    "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1/spl:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/erc20:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    `eip155:8453/spl:${usdc}`,
    `eip155:8453/erc20:${usdc.replace("f", "F")}`,
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
  ])("refuses %j as any asset", (text) => assert.isTrue(Option.isNone(decode(Caip.AssetId)(text))))

  it("a wallet is on chain 0 and an account is not", () => {
    assert.isTrue(Option.isSome(decode(Caip.EvmWalletId)(`eip155:0:${usdc}`)))
    assert.isTrue(Option.isNone(decode(Caip.EvmWalletId)(`eip155:1:${usdc}`)))
    assert.isTrue(Option.isNone(decode(Caip.EvmAccountId)(`eip155:0:${usdc}`)))
  })

  it("parts come back out", () => {
    const asset = Schema.decodeUnknownSync(Caip.Erc20AssetId)(`eip155:8453/erc20:${usdc}`)
    assert.strictEqual(Caip.chainIdOf(asset), 8453)
    assert.strictEqual(Caip.addressOf(asset), usdc)
    assert.strictEqual(Caip.erc20(Caip.chainIdOf(asset), Caip.addressOf(asset)), asset)
  })

  it("identifiers of Solana have a chain, a family and an address too", () => {
    const address = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
    const account = Schema.decodeUnknownSync(Caip.AccountId)(`solana:${Caip.solanaReference}:${address}`)
    const wallet = Schema.decodeUnknownSync(Caip.WalletId)(`solana:${Caip.solanaReference}:${address}`)
    const asset = Caip.spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
    assert.strictEqual(Caip.chainIdOf(account), Caip.solanaChainId)
    assert.strictEqual(Caip.chainIdOf(asset), Caip.solanaChainId)
    assert.deepStrictEqual([account, wallet, asset].map(Caip.namespaceOf), ["solana", "solana", "solana"])
    assert.strictEqual(Caip.addressOf(wallet), address)
    assert.strictEqual(Caip.assetAt(Caip.chainIdOf(asset), Caip.addressOf(asset)), asset)
    assert.strictEqual(Caip.namespaceOfChain(Caip.chainIdOf(account)), "solana")
    assert.isTrue(Option.isNone(decode(Caip.AccountId)(`solana:${Caip.solanaReference}:${usdc}`)))
    assert.isTrue(Option.isNone(decode(Caip.AccountId)(`solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:${address}`)))
  })

  it("identifiers of EVM chains are of the family eip155", () => {
    const ids = [
      Schema.decodeUnknownSync(Caip.WalletId)(`eip155:0:${usdc}`),
      Schema.decodeUnknownSync(Caip.AccountId)(`eip155:8453:${usdc}`),
      Schema.decodeUnknownSync(Caip.AssetId)(`eip155:8453/erc20:${usdc}`)
    ]
    assert.deepStrictEqual(ids.map(Caip.namespaceOf), ["eip155", "eip155", "eip155"])
    assert.strictEqual(Caip.assetAt(8453 as Caip.ChainId, usdc as Caip.EvmAddress), ids[2])
  })

  it("routes take identifiers of the families that are served", () => {
    const spl = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/spl:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
    assert.isTrue(Option.isSome(decode(Caip.AssetId)(spl)))
    assert.isTrue(Option.isSome(decode(Caip.AssetId)(`eip155:8453/erc20:${usdc}`)))
  })
})

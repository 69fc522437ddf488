import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  AuthorityType,
  createFreezeAccountInstruction,
  createInitializeAccount3Instruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  ExtensionType,
  getAccountLenForMint,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  unpackMint
} from "@solana/spl-token"
import { createInitializeInstruction } from "@solana/spl-token-metadata"
import { Keypair, type PublicKey, SystemProgram } from "@solana/web3.js"
import { Effect, Option, Redacted, Result } from "effect"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint } from "#layers/solana/token/Mint.ts"
import { shownUnits, valueUsd } from "#layers/solana/token/Multiplier.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { metadataAccount, metadataProgram, readSymbols } from "#layers/solana/token/readSymbols.ts"
import { installMints, issue, issuer, pause, rescale, resume, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { fundedKey, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
  installMints(chain.ledger)
})
afterAll(() => chain.close())

const named = (symbol: string): SplToken => splCatalog.find((token) => token.symbol === symbol)!
const [tesla, apple, wrapped] = [named("TSLAx"), named("AAPLx"), named("SOL")]
const wad = 10n ** 18n

const onChain = <A, E>(effect: Effect.Effect<A, E, SolanaRpc>) =>
  Effect.provide(effect, SolanaRpc.layer([Redacted.make(chain.url)]))

/** A second account of the owner for the token, beside the associated one. */
const secondAccount = (token: SplToken, owner: PublicKey, amountRaw: bigint): PublicKey => {
  const account = Keypair.generate().publicKey
  const mint = chain.ledger.account(token.mint)!
  const info = { ...mint, owner: token.program, data: Buffer.from(mint.data), lamports: Number(mint.lamports) }
  const space = getAccountLenForMint(unpackMint(token.mint, info, token.program))
  chain.ledger.operate(issuer, [
    SystemProgram.createAccount({
      fromPubkey: issuer,
      newAccountPubkey: account,
      lamports: Number(chain.ledger.rentOf(space)),
      space,
      programId: token.program
    }),
    createInitializeAccount3Instruction(account, token.mint, owner, token.program),
    createMintToInstruction(token.mint, account, issuer, amountRaw, [], token.program)
  ])
  return account
}

describe("what an address holds", () => {
  it.effect("both token programs, several accounts of a mint summed, and lamports above rent as SOL", () =>
    onChain(
      Effect.gen(function* () {
        const owner = fundedKey(chain, sol).publicKey
        issue(chain.ledger, owner, { token: usdc, amountRaw: 5n })
        issue(chain.ledger, owner, { token: tesla, amountRaw: 7n })
        secondAccount(usdc, owner, 100n)
        secondAccount(tesla, owner, 1_000n)
        const { slot, time, tokens } = yield* readHoldings(owner)
        assert.strictEqual(slot, chain.ledger.slot)
        assert.strictEqual(time, chain.now)
        const byAsset = new Map(tokens.map((token) => [token.assetId as string, token]))
        assert.strictEqual(byAsset.size, 3)
        const spare = sol - chain.ledger.rentOf(0)
        assert.deepInclude(byAsset.get(wrapped.assetId), {
          raw: spare,
          movableRaw: spare,
          lamports: spare,
          accounts: []
        })
        const [dollars, shares] = [byAsset.get(usdc.assetId)!, byAsset.get(tesla.assetId)!]
        assert.strictEqual(dollars.raw, 105n)
        assert.deepStrictEqual(
          dollars.accounts.map(({ amountRaw }) => amountRaw),
          [100n, 5n]
        )
        assert.strictEqual(dollars.token!.decimals, 6)
        assert.isTrue(dollars.token!.program.equals(TOKEN_PROGRAM_ID))
        assert.deepStrictEqual(dollars.remarks, [])
        assert.strictEqual(shares.raw, 1_007n)
        assert.strictEqual(shares.token!.decimals, 8)
        assert.deepStrictEqual(shares.remarks, ["PERMANENT_DELEGATE"])
      })
    )
  )

  it.effect("SOL is lamports and wrapped SOL together, and is not read where other mints alone are wanted", () =>
    onChain(
      Effect.gen(function* () {
        const owner = fundedKey(chain, sol).publicKey
        issue(chain.ledger, owner, { token: wrapped, amountRaw: 300n })
        const [holding, ...others] = (yield* readHoldings(owner, { mints: [wrapped.mint] })).tokens
        const spare = sol - chain.ledger.rentOf(0)
        assert.deepInclude(holding, { assetId: wrapped.assetId, raw: spare + 300n, lamports: spare })
        assert.lengthOf(holding!.accounts, 1)
        assert.strictEqual(holding!.token!.decimals, 9)
        assert.deepStrictEqual(others, [])
        assert.deepStrictEqual((yield* readHoldings(owner, { mints: [usdc.mint] })).tokens, [])
      })
    )
  )

  it.effect("an address that nobody ever paid holds nothing, and wanted mints alone are read", () =>
    onChain(
      Effect.gen(function* () {
        const owner = Keypair.generate().publicKey
        assert.deepStrictEqual((yield* readHoldings(owner)).tokens, [])
        issue(chain.ledger, owner, { token: usdc, amountRaw: 5n })
        issue(chain.ledger, owner, { token: tesla, amountRaw: 7n })
        const { tokens } = yield* readHoldings(owner, { mints: [tesla.mint] })
        assert.deepStrictEqual(
          tokens.map(({ raw }) => raw),
          [7n]
        )
      })
    )
  )

  it.effect("a multiplier counts from its second on, moves no raw amount, and enters the value alone", () =>
    onChain(
      Effect.gen(function* () {
        const owner = Keypair.generate().publicKey
        issue(chain.ledger, owner, { token: apple, amountRaw: 200_000_000n })
        const holdingNow = Effect.map(readHoldings(owner), ({ tokens }) => tokens[0]!)
        const before = yield* holdingNow
        assert.strictEqual(before.multiplier, (15n * wad) / 10n)
        assert.strictEqual(shownUnits(before.raw, before.multiplier), 300_000_000n)
        const worth = ({ multiplier, raw }: typeof before) =>
          valueUsd(raw, { decimals: 8, multiplier, price: 100n * wad })
        assert.strictEqual(worth(before), 300n * wad)

        rescale(chain.ledger, apple, { multiplier: 3, from: chain.now + 60n })
        assert.strictEqual((yield* holdingNow).multiplier, (15n * wad) / 10n)
        chain.now += 60n
        chain.ledger.advance(1n)
        const after = yield* holdingNow
        assert.deepStrictEqual([after.raw, after.multiplier], [200_000_000n, 3n * wad])
        assert.strictEqual(worth(after), 600n * wad)
      })
    )
  )

  it.effect("a paused mint and a frozen account are named, and nothing of them is movable", () =>
    onChain(
      Effect.gen(function* () {
        const owner = Keypair.generate().publicKey
        issue(chain.ledger, owner, { token: tesla, amountRaw: 7n })
        pause(chain.ledger, tesla)
        const [paused] = (yield* readHoldings(owner)).tokens
        assert.deepStrictEqual([paused!.raw, paused!.movableRaw], [7n, 0n])
        assert.include(paused!.remarks, "PAUSED")
        resume(chain.ledger, tesla)

        issue(chain.ledger, owner, { token: usdc, amountRaw: 5n })
        const frozen = secondAccount(usdc, owner, 100n)
        chain.ledger.operate(issuer, [createFreezeAccountInstruction(frozen, usdc.mint, issuer, [], usdc.program)])
        const [dollars] = (yield* readHoldings(owner, { mints: [usdc.mint] })).tokens
        assert.deepStrictEqual([dollars!.raw, dollars!.movableRaw, dollars!.remarks], [105n, 5n, ["FROZEN"]])
      })
    )
  )

  it.effect("tokens that a permanent delegate took are gone at the next read", () =>
    onChain(
      Effect.gen(function* () {
        const [owner, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
        issue(chain.ledger, owner, { token: tesla, amountRaw: 7n })
        issue(chain.ledger, other, { token: tesla, amountRaw: 1n })
        assert.strictEqual((yield* readHoldings(owner)).tokens[0]!.raw, 7n)
        chain.ledger.operate(issuer, [
          createTransferCheckedInstruction(
            tokenAccount(tesla, owner),
            tesla.mint,
            tokenAccount(tesla, other),
            issuer,
            3n,
            8,
            [],
            tesla.program
          )
        ])
        assert.strictEqual((yield* readHoldings(owner)).tokens[0]!.raw, 4n)
      })
    )
  )

  it.effect("an account whose owner was changed to another is not the owner's", () =>
    onChain(
      Effect.gen(function* () {
        const owner = fundedKey(chain).publicKey
        const account = secondAccount(usdc, owner, 9n)
        chain.ledger.operate(owner, [
          createSetAuthorityInstruction(account, owner, AuthorityType.AccountOwner, Keypair.generate().publicKey)
        ])
        assert.deepStrictEqual((yield* readHoldings(owner, { mints: [usdc.mint] })).tokens, [])
      })
    )
  )

  it.effect("a chain that does not answer is unavailable, and holds nothing less", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(readHoldings(usdc.mint))
      assert.strictEqual(failure._tag, "ChainUnavailable")
    }).pipe(Effect.provide(SolanaRpc.layer([Redacted.make("http://127.0.0.1:9")])))
  )
})

describe("mints", () => {
  const mintOf = (key: PublicKey) => {
    const { data, lamports, owner } = chain.ledger.account(key)!
    return decodeMint(key, {
      data,
      lamports,
      owner: owner === TOKEN_PROGRAM_ID.toBase58() ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID
    })
  }

  it.effect("a symbol is that of the mint, else that of its metadata account, and of no other account", () =>
    onChain(
      Effect.gen(function* () {
        const mint = Keypair.generate().publicKey
        const space = getMintLen([ExtensionType.MetadataPointer])
        chain.ledger.operate(issuer, [
          SystemProgram.createAccount({
            fromPubkey: issuer,
            newAccountPubkey: mint,
            lamports: Number(sol),
            space,
            programId: TOKEN_2022_PROGRAM_ID
          }),
          createInitializeMetadataPointerInstruction(mint, issuer, mint, TOKEN_2022_PROGRAM_ID),
          createInitializeMint2Instruction(mint, 8, issuer, null, TOKEN_2022_PROGRAM_ID),
          createInitializeInstruction({
            programId: TOKEN_2022_PROGRAM_ID,
            metadata: mint,
            updateAuthority: issuer,
            mint,
            mintAuthority: issuer,
            name: "Nvidia xStock",
            symbol: "NVDAx",
            uri: "https://issuer.example/nvda.json"
          })
        ])
        const text = (value: string) => [
          ...new Uint8Array(new Uint32Array([value.length]).buffer),
          ...Buffer.from(value)
        ]
        const about = (of: PublicKey) =>
          Uint8Array.from([4, ...issuer.toBytes(), ...of.toBytes(), ...text("USD Coin\0\0"), ...text("USDC\0\0\0")])
        const put = (token: SplToken, data: Uint8Array) =>
          chain.ledger.setAccount({
            key: metadataAccount(token.mint),
            owner: metadataProgram.toBase58(),
            lamports: sol,
            executable: false,
            data
          })
        put(usdc, about(usdc.mint))
        put(named("JUP"), about(usdc.mint))
        const mints = [mint, usdc.mint, named("JUP").mint, tesla.mint].map((key) => Result.getOrThrow(mintOf(key)))
        const symbols = yield* readSymbols(mints)
        assert.deepStrictEqual([...symbols.values()].sort(), ["NVDAx", "USDC"])
        assert.strictEqual(symbols.get(mint.toBase58()), "NVDAx")
      })
    )
  )

  it("what is no mint is refused in words", () => {
    const owner = Keypair.generate().publicKey
    issue(chain.ledger, owner, { token: usdc, amountRaw: 5n })
    const account = tokenAccount(usdc, owner)
    const refused = (result: ReturnType<typeof mintOf>) => Option.getOrThrow(Result.getFailure(result)).message
    assert.match(refused(mintOf(account)), /is no mint/)
    const { data, lamports } = chain.ledger.account(usdc.mint)!
    const foreign = decodeMint(usdc.mint, { data, lamports, owner: SystemProgram.programId })
    assert.match(refused(foreign), /kept by no token program/)
  })
})

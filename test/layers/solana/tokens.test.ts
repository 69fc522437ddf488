/** Which mints an allocation may name, by what they say of themselves. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  AccountState,
  createInitializeDefaultAccountStateInstruction,
  createInitializeInterestBearingMintInstruction,
  createInitializeMint2Instruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  ExtensionType,
  getMintLen,
  TOKEN_2022_PROGRAM_ID
} from "@solana/spl-token"
import { Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import { Effect, Layer, Redacted } from "effect"
import { solanaChainId, spl } from "#domain/values/Caip.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SolanaTokens } from "#layers/solana/SolanaTokens.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { installMints, issuer } from "#sandbox/solana/market/issuer.ts"
import { startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

const program = TOKEN_2022_PROGRAM_ID

describe("mints of allocations", () => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await startTestChain()
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const made = (extension: ExtensionType, initialize: (mint: PublicKey) => TransactionInstruction) => {
    const mint = Keypair.generate().publicKey
    const space = getMintLen([extension])
    chain.ledger.operate(issuer, [
      SystemProgram.createAccount({
        fromPubkey: issuer,
        newAccountPubkey: mint,
        lamports: Number(chain.ledger.rentOf(space)),
        space,
        programId: program
      }),
      initialize(mint),
      createInitializeMint2Instruction(mint, 6, issuer, issuer, program)
    ])
    return mint
  }

  /** Extensions follow the byte that says what kind of account it is. */
  const firstExtension = 166

  /** A mint with an extension that no release of the program has yet. */
  const later = () => {
    const mint = made(ExtensionType.PausableConfig, (key) =>
      createInitializePausableConfigInstruction(key, issuer, program)
    )
    const account = chain.ledger.account(mint)!
    const data = Buffer.from(account.data)
    data.writeUInt16LE(99, firstExtension)
    chain.ledger.setAccount({ ...account, data: Uint8Array.from(data) })
    return mint
  }

  it.live("are those that move as they are; a fee of nothing is none", () =>
    Effect.gen(function* () {
      const fee = (bps: number) => (mint: PublicKey) =>
        createInitializeTransferFeeConfigInstruction(mint, issuer, issuer, bps, 1_000n, program)
      const kept = made(ExtensionType.NonTransferable, (mint) =>
        createInitializeNonTransferableMintInstruction(mint, program)
      )
      const hooked = made(ExtensionType.TransferHook, (mint) =>
        createInitializeTransferHookInstruction(mint, issuer, usdc.mint, program)
      )
      const [taxed, free] = [
        made(ExtensionType.TransferFeeConfig, fee(10)),
        made(ExtensionType.TransferFeeConfig, fee(0))
      ]
      const interesting = made(ExtensionType.InterestBearingConfig, (mint) =>
        createInitializeInterestBearingMintInstruction(mint, issuer, 500, program)
      )
      const frozen = made(ExtensionType.DefaultAccountState, (mint) =>
        createInitializeDefaultAccountStateInstruction(mint, AccountState.Frozen, program)
      )
      const keys = [usdc.mint, free, kept, hooked, taxed, interesting, frozen, later(), Keypair.generate().publicKey]
      const ids = keys.map((key) => spl(key.toBase58()))
      const said = yield* Effect.flatMap(TokenReader, (reader) => reader.decimals(solanaChainId, ids))
      assert.deepStrictEqual(
        ids.map((id) => said.get(id)),
        [
          6,
          6,
          { decimals: 6, refusal: "it cannot be transferred" },
          { decimals: 6, refusal: "its transfers call a program that is not checked" },
          { decimals: 6, refusal: "transfers of it take a fee, so that the minimum would not hold" },
          { decimals: 6, refusal: "its shown amount grows with interest, so that its price is of no raw unit" },
          { decimals: 6, refusal: "its issuer must thaw each account first" },
          { decimals: 6, refusal: "its mint has the extension 99, whose rules are not known" },
          null
        ]
      )
    }).pipe(
      Effect.provide(
        SolanaTokens.pipe(
          Layer.provide([
            Layer.unwrap(Effect.sync(() => SolanaRpc.layer([Redacted.make(chain.url)]))),
            Layer.mock(TokenReader, {})
          ])
        )
      )
    )
  )
})

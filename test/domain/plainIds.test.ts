/** Ids are plain only where decision 279 says so. */
import { assert, describe, it } from "@effect/vitest"
import { inFolder } from "#test/sources.ts"

const sources = ["domain", "layers"].flatMap(inFolder)

const withPlain = (pattern: RegExp) => sources.filter(({ code }) => pattern.test(code)).map(({ path }) => path)

describe("ids of chains", () => {
  it("have their brand in the domain and in its layers, alone and in lists", () =>
    assert.deepStrictEqual(
      withPlain(/\b\w*[cC]hainIds?\??: (?:Readonly(?:Array|Set)<|Array<|Set<)?number\b/u),
      // What a wallet signed is read as it was sent, and then compared.
      ["domain/identity/siwe/SignInMessage.ts"]
    ))

  it("get it when they are decoded, of errors as well", () =>
    assert.deepStrictEqual(
      withPlain(/\b\w*[cC]hainIds?: (?:Schema\.\w+\()*Schema\.(?:Int|Number)\b/u),
      // The answers of a provider and the lists of tokens are compared with an id of ours.
      ["layers/catalogue/refresh/listTokens.ts", "layers/routing/lifi/wire.ts"]
    ))

  it("are not cast", () =>
    assert.deepStrictEqual(
      withPlain(/\bas (?:ReadonlyArray<)?ChainId\b/u),
      // The first reads digits whose form was checked, the second what a wallet signed.
      ["domain/values/Caip.ts", "layers/evm/account/SignInVerifierLive.ts"]
    ))
})

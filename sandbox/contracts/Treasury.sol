// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IUniswapV2Factory} from "@uniswap/v2-core/contracts/interfaces/IUniswapV2Factory.sol";
import {IUniswapV2Pair} from "@uniswap/v2-core/contracts/interfaces/IUniswapV2Pair.sol";

/// @title Issues the world's tokens, founds its pools and moves their prices
/// @notice It is the issuer of every SandboxToken, and wraps its own native balance into WETH.
contract Treasury {
    address public immutable OWNER;
    IWrappedEther public immutable WETH;

    /// @dev A Uniswap v2 pool keeps 0.3 percent of what comes in.
    uint256 private constant FEE_BASE = 1000;
    uint256 private constant FEE = 3;

    error OnlyOwner(address caller);
    error TransferFailed(address account);

    modifier onlyOwner() {
        if (msg.sender != OWNER) revert OnlyOwner(msg.sender);
        _;
    }

    constructor(address owner, IWrappedEther weth) {
        OWNER = owner;
        WETH = weth;
    }

    receive() external payable {}

    /// @notice Creates `amount` raw units of `token` for `account`.
    function issue(address token, address account, uint256 amount) external onlyOwner {
        _issue(token, account, amount);
    }

    /// @notice Sends native ether, in wei.
    function send(address payable account, uint256 amount) external onlyOwner {
        (bool sent,) = account.call{value: amount}("");
        if (!sent) revert TransferFailed(account);
    }

    /// @notice Creates the pool of two tokens with these reserves; the treasury keeps its shares.
    function found(IUniswapV2Factory factory, address tokenA, uint256 amountA, address tokenB, uint256 amountB)
        external
        onlyOwner
        returns (address pair)
    {
        pair = factory.createPair(tokenA, tokenB);
        _issue(tokenA, pair, amountA);
        _issue(tokenB, pair, amountB);
        IUniswapV2Pair(pair).mint(address(this));
    }

    /// @notice Trades with the pool, as an arbitrageur would, until reserve1 / reserve0 equals `weight1 / weight0`
    /// (raw units, rounded against the treasury by at most one unit on either side).
    function movePrice(IUniswapV2Pair pair, uint256 weight0, uint256 weight1) external onlyOwner {
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        uint256 after0;
        uint256 after1;
        if (reserve1 * weight0 < reserve0 * weight1) {
            (after1, after0) = _reservesAfter(reserve1, reserve0, weight1, weight0);
        } else {
            (after0, after1) = _reservesAfter(reserve0, reserve1, weight0, weight1);
        }
        if (after0 > reserve0 && after1 < reserve1) {
            _issue(pair.token0(), address(pair), after0 - reserve0);
            pair.swap(0, reserve1 - after1, address(this), "");
        } else if (after1 > reserve1 && after0 < reserve0) {
            _issue(pair.token1(), address(pair), after1 - reserve1);
            pair.swap(reserve0 - after0, 0, address(this), "");
        }
    }

    /// @dev The reserves once `x` has come in and the ratio is weightIn / weightOut. With R the reserve after, and the
    /// pool's rule (1000 R - 3 (R - reserveIn)) * 1000 * out >= 1000^2 * k, out = R * weightOut / weightIn:
    /// 997 R^2 + 3 reserveIn R = 1000 k weightIn / weightOut, solved for R.
    function _reservesAfter(uint256 reserveIn, uint256 reserveOut, uint256 weightIn, uint256 weightOut)
        private
        pure
        returns (uint256 afterIn, uint256 afterOut)
    {
        uint256 square = Math.mulDiv(reserveIn * reserveOut, weightIn, weightOut);
        uint256 linear = FEE * reserveIn;
        uint256 quadratic = FEE_BASE - FEE;
        uint256 root = Math.sqrt(linear * linear + 4 * quadratic * FEE_BASE * square, Math.Rounding.Ceil);
        afterIn = Math.ceilDiv(root - linear, 2 * quadratic);
        afterOut = Math.mulDiv(afterIn, weightOut, weightIn, Math.Rounding.Ceil);
    }

    function _issue(address token, address account, uint256 amount) private {
        if (token == address(WETH)) {
            WETH.deposit{value: amount}();
            if (!WETH.transfer(account, amount)) revert TransferFailed(account);
        } else {
            ISandboxToken(token).mint(account, amount);
        }
    }
}

/// @notice The issuer's entry of a SandboxToken.
interface ISandboxToken {
    function mint(address account, uint256 amount) external;
}

/// @notice What the treasury needs of WETH9.
interface IWrappedEther {
    function deposit() external payable;
    function transfer(address account, uint256 amount) external returns (bool);
}

package glyph

// lookalikes are characters that look like one of ASCII.
type lookalikes struct {
	plain byte
	like  string
}

// alike lists, for each letter and digit of ASCII, the letters of other alphabets
// that look like it in common fonts: facts of Unicode's confusables (UTS #39).
// Left out are alphabets that are written from right to left, letters that are
// raised, lowered or circled, and what base computes.
var alike = [...]lookalikes{
	{'2', "\u01a7\u03e8\u14bf\ua644\ua6ef\ua75a"},
	{'3', "\u01b7\u021c\u0417\u04e0\u2ccc\ua76a\ua7ab\U000118ca\U00016f3b"},
	{'4', "\u13ce\U000118af"},
	{'5', "\u01bc\U000118bb"},
	{'6', "\u0431\u13ee\u2cd2\U000118d5"},
	{'7', "\U000104d2\U000118c6"},
	{'8', "\u0222\u0223\U0001031a"},
	{'9', "\u2cca\ua76e\U000118ac\U000118cc\U000118d6"},
	{'A', "\u0391\u0410\u13aa\u15c5\ua4ee\U000102a0\U00016f40"},
	{'B', "\u0392\u0412\u13f4\u15f7\u212c\ua4d0\ua7b4\U00010282\U000102a1\U00010301"},
	{'C', "\u03f9\u0421\u13df\u2102\u212d\u216d\u2ca4\ua4da\U000102a2\U00010302\U00010415\U0001051c"},
	{'D', "\u13a0\u15de\u15ea\u2145\u216e\ua4d3"},
	{'E', "\u0395\u0415\u13ac\u2130\u2d39\ua4f0\U00010286\U000118a6\U000118ae"},
	{'F', "\u03dc\u15b4\u2131\ua4dd\ua798\U00010287\U000102a5\U00010525\U000118a2\U000118c2"},
	{'G', "\u050c\u13c0\u13f3\ua4d6"},
	{'H', "\u0397\u041d\u13bb\u157c\u210b\u210c\u210d\u2c8e\ua4e7\U000102cf"},
	{'J', "\u037f\u0408\u13ab\u148d\ua4d9\ua7b2"},
	{'K', "\u039a\u041a\u13e6\u16d5\u212a\u2c94\ua4d7\U00010518"},
	{'L', "\u13de\u14aa\u2112\u216c\u2cd0\ua4e1\U0001041b\U00010526\U000118a3\U000118b2\U00016f16"},
	{'M', "\u039c\u03fa\u041c\u13b7\u15f0\u16d6\u2133\u216f\u2c98\ua4df\U000102b0\U00010311"},
	{'N', "\u039d\u2115\u2c9a\ua4e0\U00010513"},
	{'O', "\u039f\u041e\u0555\u0b20\u12d0\u2c9e\u2d54\u3007\ua4f3\U00010292\U000102ab\U00010404\U000104c2\U00010516\U000118b5"},
	{'P', "\u03a1\u0420\u13e2\u146d\u2119\u2ca2\ua4d1\U00010295"},
	{'Q', "\u211a\u2d55"},
	{'R', "\u01a6\u13a1\u13d2\u1587\u211b\u211c\u211d\ua4e3\U000104b4\U00016f35"},
	{'S', "\u0405\u054f\u13d5\u13da\ua4e2\U00010296\U00010420\U00016f3a"},
	{'T', "\u03a4\u0422\u13a2\u2ca6\ua4d4\U00010297\U000102b1\U00010315\U000118bc\U00016f0a"},
	{'U', "\u054d\u1200\u144c\ua4f4\U000104ce\U000118b8\U00016f42"},
	{'V', "\u0474\u13d9\u142f\u2164\u2d38\ua4e6\ua6df\U0001051d\U000118a0\U00016f08"},
	{'W', "\u051c\u13b3\u13d4\ua4ea"},
	{'X', "\u03a7\u0425\u16b7\u2169\u2cac\u2d5d\ua4eb\ua7b3\U00010290\U000102b4\U00010317\U00010527"},
	{'Y', "\u03a5\u03d2\u0423\u04ae\u13a9\u13bd\u2ca8\ua4ec\U000102b2\U000118a4\U00016f43"},
	{'Z', "\u0396\u13c3\u2124\u2128\ua4dc\U000118a9"},
	{'a', "\u0251\u03b1\u0430"},
	{'b', "\u0184\u042c\u13cf\u15af"},
	{'c', "\u03f2\u0441\u1d04\u217d\u2ca5\uabaf\U0001043d"},
	{'d', "\u0501\u13e7\u146f\u2146\u217e\ua4d2"},
	{'e', "\u0435\u04bd\u212f\u2147\uab32"},
	{'f', "\u017f\u0584\u1e9d\ua799\uab35"},
	{'g', "\u018d\u0261\u0581\u1d83\u210a"},
	{'h', "\u04bb\u0570\u13c2\u210e"},
	{'i', "\u0131\u0269\u026a\u037a\u03b9\u0456\u04cf\u13a5\u1fbe\u2139\u2148\u2170\ua647\uab75\U000118c3"},
	{'j', "\u03f3\u0458\u2149"},
	{'l', "\u0196\u01c0\u0399\u0406\u04c0\u16c1\u2110\u2111\u2113\u2160\u217c\u2c92\u2d4f\ua4f2\U0001028a\U00010309\U00016f28"},
	{'m', "\u217f"},
	{'n', "\u0578\u057c"},
	{'o', "\u03bf\u03c3\u043e\u0585\u0d20\u101d\u10ff\u1d0f\u1d11\u2134\u2c9f\uab3d\U0001042c\U000104ea\U000118c8\U000118d7"},
	{'p', "\u03c1\u03f1\u0440\u2ca3"},
	{'q', "\u051b\u0563\u0566"},
	{'r', "\u0433\u1d26\u2c85\uab47\uab48\uab81"},
	{'s', "\u01bd\u0455\ua731\uabaa\U00010448\U000118c1"},
	{'u', "\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52\U000104f6\U000118d8"},
	{'v', "\u03bd\u0475\u1d20\u2174\uaba9\U00011706\U000118c0"},
	{'w', "\u026f\u0461\u051d\u0561\u1d21\uab83\U0001170a\U0001170e\U0001170f"},
	{'x', "\u0445\u1541\u157d\u2179"},
	{'y', "\u0263\u028f\u03b3\u0443\u04af\u10e7\u1d8c\u1eff\u213d\uab5a\U000118dc"},
	{'z', "\u1d22\uab93\U000118c4"},
}

// marks are what looks like a mark that names and patterns are made of.
var marks = [...]lookalikes{
	{'-', "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d"},
	{'_', "\uff3f\ufe4d\ufe4e\ufe4f"},
	{'|', "\u2223\u01c0\uff5c\u2502"},
	{'*', "\u2217\u204e\uff0a"},
	{'.', "\u2024\uff0e"},
	{'/', "\u2044\u2215\uff0f"},
}

// greek are the 58 mathematical letters of each Greek style.
const greek = "AB..EZH.IK.MN.O.P..TY.X...a.y.....i...v.o.p.o.u.........p."

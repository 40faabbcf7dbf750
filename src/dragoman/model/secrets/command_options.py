r"""The table of programs with the options and operands that take a password. To add one, add a row."""

from __future__ import annotations

from typing import Final

QUOTE: Final = r"\\{0,3}[\"'`]?"
"""A quote, perhaps escaped, perhaps none."""
WORD: Final = r"(?P<secret>[^\s\"'`\\|;&<>]{3,200})"
"""A word of a command line."""
NEXT: Final = r"(?:[ =]\\{0,3}[\"'`]?|\\{0,3}[\"'],\s?\\{0,3}[\"'])"
"""What stands between an option and its value, also where a command is a list of strings."""

COMMANDS: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    # hints, the program with what follows it up to the option, the option and what stands before the value
    (
        ("curl", "wget", "u", "user"),
        "",
        r"-(?<=[\s\"'`]-)(?:\w{0,5}[uU]|-user|-proxy-user)[ =]?\\{0,3}[\"']?[\w.@%+-]{1,64}:(?![0-9]{1,6}(?:[\s\"']|$))",
    ),
    (("http", "https"), r"https?\s", rf"(?:-a|--auth){NEXT}[\w.@%+-]{{1,64}}:"),
    (("mysql", "mysqldump", "mysqladmin", "mysqlimport"), r"mysql[\w-]{0,16}\s", rf"-p{QUOTE}"),
    (("mariadb",), r"mariadb[\w-]{0,16}\s", rf"-p{QUOTE}"),
    (("sshpass",), r"sshpass\s", rf"-p(?:{NEXT})?{QUOTE}"),
    (("login",), r" login\s", rf"-p{NEXT}"),
    (
        ("mongo", "mongosh", "mongodump", "mongorestore", "mongoimport", "mongoexport"),
        r"mongo\w{0,10}\s",
        rf"-p[ =]?{QUOTE}",
    ),
    (("redis",), r"redis-cli\s", rf"(?:-a|--pass|AUTH(?: \w+)?){NEXT}"),
    (
        (
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapdelete",
            "ldapwhoami",
            "ldappasswd",
            "ldapcompare",
        ),
        r"ldap(?:search|add|modify|delete|whoami|passwd|compare)\s",
        rf"-[ws](?:{NEXT})?{QUOTE}",
    ),
    (("mssql",), r"mssql-cli\s", rf"-P(?:{NEXT})?{QUOTE}"),
    (("cqlsh", "rdesktop"), r"(?:cqlsh|rdesktop)\s", rf"-p(?:{NEXT})?{QUOTE}"),
    (("mysqladmin",), r"mysqladmin\s", rf"password[ ]{QUOTE}"),
    (("keygen",), r"ssh-keygen\s", rf"-[NP]{NEXT}"),
    (("keyvault", "securestring"), r"(?:secret set|put-parameter)\s", rf"--value{NEXT}"),
    (("basic",), r"config\s", rf"http-basic\.\S{{1,60}}[ ]\S{{1,60}}[ ]{QUOTE}"),
    (
        ("keypassword", "storepassword"),
        "",
        rf"(?:key|store)Password[ ]{{1,4}}{QUOTE}(?=\w+{QUOTE}\s*$)",
    ),
    (("zip", "unzip"), r"zip\s", rf"-P{NEXT}"),
    (("7z", "7za", "7zr"), r"7z[ar]?\s", rf"-h?p{QUOTE}"),
    (("rar", "unrar"), r"rar\s", rf"-h?p{QUOTE}"),
    (("sqlcmd",), r"sqlcmd\s", rf"-P(?:{NEXT})?{QUOTE}"),
    (("bcp",), r"bcp\s", rf"-P(?:{NEXT})?{QUOTE}"),
    (("sqlplus",), r"sqlplus\s", rf"{QUOTE}[\w$]{{1,40}}/"),
    (("expdp", "impdp"), r"pdp\s", rf"{QUOTE}[\w$]{{1,40}}/"),
    (("smbclient", "rpcclient"), r"client\s", rf"-U\s?{QUOTE}[\w.\\@/-]{{1,60}}%"),
    (("lftp",), r"lftp\s", rf"-u\s?{QUOTE}[\w.@-]{{1,60}},"),
    (("htpasswd",), r"htpasswd[ ]+-\w*b\w*[ ]+(?:-\w+[ ]+)*(?:[\w./-]+[ ]+)?[\w.@-]+[ ]+", QUOTE),
    (("pass",), "", rf"-pass(?<=\s-pass)(?:in|out|word)?{NEXT}pass:"),
    (("openssl",), r"openssl\s", rf"-k{NEXT}"),
    (("pw",), "", rf"-pw(?<=\s-pw){NEXT}"),
    (("p", "pass", "password"), "", rf"/(?<=\s/)(?:p|pass|password|PASSWORD|PASS):{QUOTE}"),
    (("net",), r"net use\s", r"/user:\S{1,60}\s+"),
    (("net",), r"net use\s", r"(?:[A-Za-z]:|\*)\s\\{2,8}[\w$.\\-]{1,100}\s(?!/)"),
    (
        ("rabbitmqctl",),
        r"rabbitmqctl\s",
        rf"(?:add_user|change_password)[ ][\w.@-]{{1,60}}[ ]{QUOTE}",
    ),
    (("twine", "nuget"), r"(?:twine|nuget)\s", rf"-p{NEXT}"),
    (
        ("user-secrets",),
        r"user-secrets set\s",
        rf"{QUOTE}[\w.:-]{{0,80}}(?i:password|pwd|secret|token|key|connectionstring){QUOTE}[ ]{QUOTE}",
    ),
    (("pulumi",), r"config\s", rf"--secret[ ][\w.:/-]{{1,80}}[ ]{QUOTE}"),
    (("vncpasswd",), r"vncpasswd\s", rf"<<<\s?{QUOTE}"),
    (("secret",), r"secret set\s", rf"--body{NEXT}"),
    (("vault",), r"vault login\s", rf"{QUOTE}(?=[\w.-]{{20,}})"),
    (
        ("config", "configure"),
        r"config(?:ure)?\s",
        rf"[\w.:/-]{{0,80}}(?:[Pp]assword|[Ss]ecret(?:_access_key)?|[Tt]oken|_auth|[Aa]pi_?[Kk]ey){NEXT}(?!--)",
    ),
)

PIPED: Final = (
    # what is piped into which program
    rf"[\w.-]{{1,32}}:{WORD}{QUOTE}\s{{0,3}}\|\s{{0,3}}(?:sudo\s)?(?:/usr/sbin/)?chpasswd",
    rf"(?P<secret>[^\s\"'`\\|;&<>]{{3,300}}){QUOTE}\s{{0,3}}\|[^\n|]{{0,80}}?"
    r"(?:sudo\s[^\n|]{0,30}?-S|--password-stdin|--stdin|--with-token|cryptsetup\s|kinit\b|secret (?:create|put)\s)",
)

PIPE_HINTS: Final = ("chpasswd", "sudo", "stdin", "--with-token", "cryptsetup", "kinit", "secret")

"""Certificates for the credentials' cases, made by the openssl program."""
import os
import shutil
import subprocess


def available():
    return shutil.which("openssl") is not None


class Authority:
    """A throw-away certification authority in `folder`."""

    def __init__(self, folder, name="suite"):
        self._folder = os.path.join(folder, name)
        os.makedirs(self._folder, exist_ok=True)
        self.certificate = os.path.join(self._folder, "ca.crt")
        self._key = os.path.join(self._folder, "ca.key")
        self._serial = 0
        _openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", self._key, "-out", self.certificate, "-days", "30", "-subj", f"/CN={name}-ca",
        )  # fmt: skip

    def issue(self, common_name, organisation=None, names=(), expired=False):
        """(certificate, key) as files; for a server when it has `names`, else for a client."""
        self._serial += 1
        base = os.path.join(self._folder, f"{self._serial}")
        subject = (f"/O={organisation}" if organisation else "") + f"/CN={common_name}"
        _openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", base + ".key", "-out", base + ".csr", "-subj", subject,
        )  # fmt: skip
        with open(base + ".ext", "w") as f:
            f.write("basicConstraints=CA:FALSE\n")
            if names:
                f.write("extendedKeyUsage=serverAuth\nsubjectAltName=" + ",".join(names) + "\n")
            else:
                f.write("extendedKeyUsage=clientAuth\n")
        # Only `openssl ca` can date a certificate back in every release there is.
        index = base + ".index"
        open(index, "w").close()
        with open(base + ".cnf", "w") as f:
            f.write(
                "[ca]\ndefault_ca=d\n[d]\n"
                f"database={index}\nserial={base}.serial\nnew_certs_dir={self._folder}\n"
                "default_md=sha256\npolicy=p\nunique_subject=no\nemail_in_dn=no\n"
                "[p]\norganizationName=optional\ncommonName=supplied\n"
            )
        with open(base + ".serial", "w") as f:
            f.write(f"{self._serial:04x}\n")
        dates = ["-startdate", "20200101000000Z"]
        dates += ["-enddate", "20210101000000Z" if expired else "20490101000000Z"]
        _openssl(
            "ca", "-batch", "-config", base + ".cnf", "-cert", self.certificate,
            "-keyfile", self._key, "-in", base + ".csr", "-out", base + ".crt", "-notext",
            "-extfile", base + ".ext", *dates,
        )  # fmt: skip
        return base + ".crt", base + ".key"


def _openssl(*arguments):
    ran = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    if ran.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {ran.stderr.strip()}")

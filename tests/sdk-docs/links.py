"""Every link of a page to a file of the tree leads to one. Usage: links.py ROOT"""

import glob
import os
import re
import sys

root, bad, links = sys.argv[1], 0, 0
pages = [p for pattern in ("*.md", "sdk-docs/*.md", "tests/**/*.md", "targets/**/*.md", "bench/*.md")
         for p in glob.glob(os.path.join(root, pattern), recursive=True)]
for page in pages:
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", open(page).read()):
        if re.match(r"\w+:", link):
            continue
        links += 1
        if not os.path.exists(os.path.join(os.path.dirname(page), link)):
            bad += 1
            print(f"{os.path.relpath(page, root)}: {link} is not there")
print(f"{links} links of {len(pages)} pages")
sys.exit(bad > 0 or links < 40)
